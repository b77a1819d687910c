import { expect, it } from 'vitest';
import { isSessionParameter, isTrackingParameter } from './tracking-parameters.ts';

it('recognizes tracking parameters in any case, and no parameter that selects a page', () => {
  for (const name of ['utm_source', 'UTM_Campaign', 'gclid', 'gbraid', 'fbclid', 'srsltid', '_gl', 'mkt_tok'])
    expect(isTrackingParameter(name), name).toBe(true);
  for (const name of ['id', 'page', 'utm', 'q', 'gclids', 'phpsessid', 'token'])
    expect(isTrackingParameter(name), name).toBe(false);
});

it('recognizes session parameters', () => {
  for (const name of ['PHPSESSID', 'jsessionid', 'ASPSESSIONIDQQ', 'CFID']) expect(isSessionParameter(name)).toBe(true);
  for (const name of ['session', 'id', 'gclid']) expect(isSessionParameter(name)).toBe(false);
});
