export { createKeys, type KeyRecord, type Keys } from './keys.ts';
export { openKeyStore } from './store.ts';
export {
  type Asking,
  type Caller,
  createGate,
  type Entrance,
  type Gate,
  type Standing,
  type Standings,
  type Visit,
} from './gate.ts';
