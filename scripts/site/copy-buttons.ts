/** Adds a copy button to every code block; runs in the browser. */
import { copyText } from '../../playground/src/copy-text.ts';

const SHOWN_MS = 1_500;

for (const block of document.querySelectorAll('pre')) {
  const frame = document.createElement('div');
  frame.className = 'code-block';
  block.replaceWith(frame);
  frame.append(
    block,
    copyButton(() => (block.textContent ?? '').replace(/\n$/, '')),
  );
}

function copyButton(textOf: () => string): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  const label = document.createElement('span');
  label.ariaLive = 'polite';
  label.textContent = 'Copy';
  button.append(label);
  button.addEventListener('click', async () => {
    label.textContent = await copyText(textOf()).then(
      () => 'Copied',
      () => 'Copy failed',
    );
    setTimeout(() => {
      label.textContent = 'Copy';
    }, SHOWN_MS);
  });
  return button;
}
