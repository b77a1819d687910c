/**
 * What npm is told wherever the set-up runs it: to fetch the packages of the lock file, and to ask the registry nothing
 * else. In this folder .npmrc says the same; other folders do not see that file.
 */
export const QUIET = ['--no-audit', '--no-fund', '--no-update-notifier'];
