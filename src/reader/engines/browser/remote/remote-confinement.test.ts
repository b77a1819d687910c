import { afterAll } from 'vitest';
import { testConfinement } from '../confinement.suite.ts';
import { type StartedBrowser, startChromium, startRemoteBench } from './remote-browser.suite.ts';

const started: StartedBrowser[] = [];
afterAll(() => Promise.all(started.map((browser) => browser.close())));

testConfinement(async (setting) => {
  const browser = await startChromium();
  started.push(browser);
  return startRemoteBench([browser.url], setting);
});
