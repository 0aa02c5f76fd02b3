// The public face of @odradek/testing.
export {};
