/** The quick lane: unit tests that share their worker, since loading the modules anew for each file takes longer than the tests. */
import { defineConfig, mergeConfig } from 'vitest/config';
import { quickTests } from './test/support/quick-lane.ts';
import base from './vitest.config.ts';

const config = mergeConfig(base, defineConfig({ test: { isolate: false } }));
config.test!.include = quickTests(import.meta.dirname);
config.test!.globalSetup = [];

export default config;
