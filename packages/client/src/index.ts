// The public face of @odradek/client. What brokers need of it, the connections alone, is @odradek/client/connection.

export * from './connection/index.ts';
