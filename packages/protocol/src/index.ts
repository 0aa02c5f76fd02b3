// The public face of @odradek/protocol.
export {};
