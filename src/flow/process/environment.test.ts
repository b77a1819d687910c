import { expect, it } from 'vitest';
import { TELEMETRY_OFF } from '#concurrency/environment.ts';
import { executorEnvironment } from './environment.ts';

it('passes the environment without server settings, plus the executor’s `env`', () => {
  const all = {
    PATH: '/bin',
    HOME: '/home/me',
    LECTERN_ADMIN_SECRET: 'secret',
    lectern_database_url: 'secret',
    NODE_CHANNEL_FD: '3',
    A: 'old',
  };
  expect(executorEnvironment({ A: 'own', LECTERN_LOG_LEVEL: 'info' }, all)).toEqual({
    PATH: '/bin',
    HOME: '/home/me',
    ...TELEMETRY_OFF,
    A: 'own',
    LECTERN_LOG_LEVEL: 'info',
  });
});
