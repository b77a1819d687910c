export { countedAddress } from './addresses.ts';
export {
  accountOf,
  type Caller,
  createGate,
  type Entrance,
  type Gate,
  type Standing,
  type Standings,
  type Visit,
} from './gate.ts';
export { newId } from './ids.ts';
export { NAME } from './names.ts';
export { ACCOUNT_TABLES, type AccountsModule, type AccountsModuleOptions, openAccounts } from './open.ts';
export {
  type Account,
  type Accounts,
  type Charge,
  type KeyRecord,
  USAGE_GROUPS,
  type Usage,
  type UsageGroup,
  type UsageSum,
} from './records.ts';
export { type ShownAccount, type ShownKey, showAccount, showKey } from './shown.ts';
