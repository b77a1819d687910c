import { expect, it } from 'vitest';
import { writeStatusReport } from './status-report.ts';

const environment = { JINA_LOG_LEVEL: 'DEBUG', JINA_AUTH_TOKEN: 'xyzzy', HOME: 'xyzzy' };

it.each(['1', '2', '3'] as const)('version %s shows only listed variables', (form) => {
  const text = writeStatusReport({ version: '1.2.3', environment, form });
  expect(text).not.toContain('xyzzy');
  const { jina, envs, ...rest } = JSON.parse(text);
  expect(jina.jina).toBe('1.2.3');
  expect(envs.JINA_LOG_LEVEL).toBe('DEBUG');
  expect(envs[form === '1' ? 'JINA_POD_NAME' : 'JINA_EARLY_STOP']).toBe('(unset)');
  expect(Object.keys(envs)).toHaveLength(form === '1' ? 24 : 17);
  expect(Object.keys(jina)).toHaveLength(form === '1' ? 16 : 20);
  expect(Object.values(rest)).toEqual(form === '3' ? [] : [expect.stringMatching(/^\d+\.\d [KMG]B$/)]);
  expect(Object.keys(rest)).toEqual({ '1': ['used_memory'], '2': ['usedMemory'], '3': [] }[form]);
});
