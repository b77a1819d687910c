import { useEffect, useState } from 'preact/hooks';

const SHOWN_MS = 1_500;

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [status, setStatus] = useState('');
  useEffect(() => {
    if (!status) return;
    const timer = setTimeout(() => setStatus(''), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [status]);
  const copy = () =>
    copyText(text).then(
      () => setStatus('Copied'),
      () => setStatus('Copy failed'),
    );
  return (
    <button type="button" class="quiet copy" onClick={copy}>
      <span aria-live="polite">{status || label}</span>
    </button>
  );
}

/** Copies a text. The Clipboard API exists only on secure origins, and a server in a private network may not be one. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'hidden';
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (!done) throw new Error('refused');
}
