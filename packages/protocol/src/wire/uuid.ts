// Kafka's ids travel as 16 bytes; in the program they are the 22 characters of their URL-safe base64 form.

/** All bits zero: no id. */
export const zeroUuid = 'AAAAAAAAAAAAAAAAAAAAAA';
