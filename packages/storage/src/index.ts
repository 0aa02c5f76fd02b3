// The public face of @odradek/storage.
export {};
