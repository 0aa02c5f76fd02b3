// The public face of @odradek/broker.
export {};
