/** Types of the values that tests use. */
export const MAX_MODELS_PACKED_BYTES: number;
export const MAX_PACKED_BYTES: number;
export const MAX_INSTALLED_BYTES: number;
