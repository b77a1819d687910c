/** The providers that can be used in the settings. */
import type { Provider } from '../provider.ts';
import { brave } from './brave.ts';
import { exa } from './exa.ts';
import { marginalia } from './marginalia.ts';
import { mojeek } from './mojeek.ts';
import { searxng } from './searxng.ts';
import { serper } from './serper.ts';
import { tavily } from './tavily.ts';
import { wikipedia } from './wikipedia.ts';

export const PROVIDERS: Readonly<Record<string, Provider>> = Object.fromEntries(
  [searxng, brave, mojeek, tavily, exa, serper, marginalia, wikipedia].map((provider) => [provider.name, provider]),
);
