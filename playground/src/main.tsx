/** The playground starts here: what the server has to say about itself, then the page. */
import { render } from 'preact';
import type { PlaygroundSetup } from '../../src/api/pages/playground-types.ts';
import { App } from './app.tsx';

const place = document.getElementById('page')!;

async function start(): Promise<void> {
  const answer = await fetch('/playground/setup.json');
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
  const setup: PlaygroundSetup = await answer.json();
  render(<App setup={setup} />, place);
}

start().catch((error: unknown) => {
  place.textContent = `The playground cannot start: ${error instanceof Error ? error.message : error} Reload to try again.`;
});
