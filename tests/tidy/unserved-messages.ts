// API keys whose messages are defined but which this broker does not answer, each with the reason.

export const unservedMessages: Readonly<Record<number, string>> = {};
