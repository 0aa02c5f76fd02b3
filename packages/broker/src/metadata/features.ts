// Kafka's features that this broker has, and the level at which each stands. Kafka lets an administrator raise a level when all brokers
// know it; here it is simply that of the code, and all that UpdateFeatures can do is to confirm it.

import { errorCodes, ProtocolError } from '@odradek/protocol';

/** group.version 1 is the protocol that assigns on the broker. */
export const features = [{ name: 'group.version', minVersion: 0, maxVersion: 1, level: 1 }] as const;

/** Kafka's numbers of what an update may do to a level. */
export const upgradeTypes = { UPGRADE: 1, SAFE_DOWNGRADE: 2, UNSAFE_DOWNGRADE: 3 } as const;

export interface FeatureUpdate {
  readonly feature: string;
  /** The level that the feature is to have. */
  readonly level: number;
  /** As in the request: not yet known to be one of `upgradeTypes`. */
  readonly upgradeType: number;
}

/** Throws INVALID_UPDATE_VERSION for every update that would change anything. */
export function checkFeatureUpdate({ feature: name, level, upgradeType }: FeatureUpdate, brokerId: number): void {
  const refuse = (reason: string): never => {
    throw new ProtocolError(errorCodes.INVALID_UPDATE_VERSION, `Invalid update version ${level} for feature ${name}. ${reason}`);
  };
  const isDowngrade = upgradeType === upgradeTypes.SAFE_DOWNGRADE || upgradeType === upgradeTypes.UNSAFE_DOWNGRADE;
  if (!isDowngrade && upgradeType !== upgradeTypes.UPGRADE) refuse('The controller does not support the given upgrade type.');
  if (level < 0) refuse('A feature version cannot be less than 0.');
  const feature = features.find((known) => known.name === name);
  if (feature === undefined) {
    // Level 0 is that of every feature that nobody has.
    if (level > 0) refuse(`Broker ${brokerId} does not support this feature.`);
    return;
  }
  const { minVersion, maxVersion } = feature;
  if (level > maxVersion) refuse(`Broker ${brokerId} only supports versions ${minVersion}-${maxVersion}.`);
  if (level >= feature.level) return;
  if (!isDowngrade) refuse("Can't downgrade the version of this feature without setting the upgrade type to a downgrade.");
  refuse(`Its level is that of the brokers' software, ${feature.level}, and cannot be lowered.`);
}
