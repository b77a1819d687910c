/**
 * Flags for every npm call of the set-up: fetch packages, but make no other requests to the registry. The project's .npmrc
 * sets the same, but does not apply in other folders.
 */
export const QUIET = ['--no-audit', '--no-fund', '--no-update-notifier'];
