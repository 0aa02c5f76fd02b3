// UpdateFeatures (57): raises or lowers the levels of features. Ours stand where the software has them, so that an update either asks
// for what is the case, or fails; then nothing of the request is done. Up to version 1 each feature that was updated has its own
// result, from 2 on there is one for all. Only the active controller does this; another broker answers NOT_CONTROLLER.

import { errorCodes, ProtocolError, UpdateFeaturesRequest, UpdateFeaturesResponse } from '@odradek/protocol';
import type { Controller } from '../controller/controller.ts';
import { checkFeatureUpdate, type FeatureUpdate, upgradeTypes } from '../metadata/features.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

export function updateFeaturesHandler(parts: {
  readonly brokerId: number;
  readonly controller: () => Pick<Controller, 'isActive'>;
}): Handler<typeof UpdateFeaturesRequest, typeof UpdateFeaturesResponse> {
  return defineHandler(UpdateFeaturesRequest, UpdateFeaturesResponse, {
    handle({ featureUpdates }, { apiVersion }) {
      if (!parts.controller().isActive) throw new ProtocolError(errorCodes.NOT_CONTROLLER);
      for (const update of featureUpdates) checkFeatureUpdate(levelAskedFor(update, apiVersion), parts.brokerId);
      return {
        errorCode: errorCodes.NONE,
        errorMessage: null,
        ...(apiVersion <= 1
          ? { results: featureUpdates.map(({ feature }) => ({ feature, errorCode: errorCodes.NONE, errorMessage: null })) }
          : {}),
      };
    },
  });
}

/** Version 0 says only whether the level may be lowered. */
function levelAskedFor(update: UpdateFeaturesRequest['featureUpdates'][number], apiVersion: number): FeatureUpdate {
  const { feature, maxVersionLevel: level, allowDowngrade } = update;
  if (apiVersion > 0) return { feature, level, upgradeType: update.upgradeType };
  return { feature, level, upgradeType: allowDowngrade ? upgradeTypes.SAFE_DOWNGRADE : upgradeTypes.UPGRADE };
}
