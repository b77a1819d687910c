import { describe } from 'vitest';
import { redisUrl } from '../../../test/support/services.ts';
import { countersSuite } from './counters.suite.ts';
import { openRedisCounters } from './redis.ts';

const url = await redisUrl();

describe.skipIf(!url)('shared', () => {
  countersSuite('counters in Redis', { open: (options) => openRedisCounters(url!, options), runs: 100 });
});
