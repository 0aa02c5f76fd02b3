// API keys whose messages are defined but which the broker does not answer, each with the reason. A key leaves the list with its handler.

const reasons: readonly { readonly keys: readonly number[]; readonly needs: string }[] = [
  { keys: [58], needs: 'a controller that requests are forwarded to, as in KRaft' },
  { keys: [94], needs: 'KRaft controllers, which we do not have: ZooKeeper coordinates us' },
  { keys: [24, 25, 26, 27, 28, 65, 66], needs: 'the transaction coordinator' },
  { keys: [38, 39, 40, 41], needs: 'delegation tokens' },
  { keys: [71, 72], needs: 'client telemetry' },
  { keys: [76, 77, 78, 79, 83, 84, 85, 86, 87, 90, 91, 92], needs: 'share groups' },
  { keys: [88, 89, 93], needs: 'groups of the streams protocol' },
];

export const unservedMessages: Readonly<Record<number, string>> = Object.fromEntries(
  reasons.flatMap(({ keys, needs }) => keys.map((key) => [key, `needs ${needs}`])),
);
