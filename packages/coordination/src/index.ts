// The public face of @odradek/coordination.
export {};
