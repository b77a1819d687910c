import { afterEach, expect, it, vi } from 'vitest';
import { openRuntime } from './onnx-runtime.ts';

afterEach(() => vi.unstubAllEnvs());

it.each([undefined, '', '0'])('is not loaded where its telemetry is on (%j)', async (value) => {
  vi.stubEnv('ORT_DISABLE_TELEMETRY', value);
  await expect(openRuntime()).rejects.toThrow('ORT_DISABLE_TELEMETRY=1');
});
