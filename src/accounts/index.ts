export { createKeys, type KeyRecord, type Keys } from './keys.ts';
export { openKeyStore } from './store.ts';
