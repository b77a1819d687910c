import { useEffect, useState } from 'preact/hooks';
import { copyText } from './copy-text.ts';

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
