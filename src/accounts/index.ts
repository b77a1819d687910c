export { type AccessControl, createAccessControl } from './access-control.ts';
export { type AccountJson, type KeyJson, toAccountJson, toKeyJson } from './account-json.ts';
export {
  type AccessRule,
  type Admission,
  accountOf,
  type Caller,
  type Credentials,
  type LimitState,
  type LimitStates,
} from './admission.ts';
export { newId } from './ids.ts';
export { readInstallationSecret, writeInstallationSecret } from './installation-secret.ts';
export { limiterKeyOf } from './limiter-key.ts';
export { NAME_PATTERN } from './names.ts';
export { ACCOUNT_TABLES, type AccountsModule, type AccountsModuleOptions, openAccounts } from './open.ts';
export {
  type Account,
  type Accounts,
  type Charge,
  type KeyRecord,
  USAGE_GROUPS,
  type Usage,
  type UsageGroup,
  type UsageQuery,
  type UsageSum,
} from './records.ts';
