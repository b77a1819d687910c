import { useEffect, useState } from 'preact/hooks';
import { copyText } from './copy-text.ts';

const SHOWN_MS = 1_500;

interface CopyButtonProps {
  /** The text, or a function that makes it when it is needed. */
  readonly text: string | (() => string);
  readonly label?: string;
  /** Words before the label, for screen readers. */
  readonly prefix?: string;
}

export function CopyButton({ text, label = 'Copy', prefix }: CopyButtonProps) {
  const [status, setStatus] = useState('');
  useEffect(() => {
    if (!status) return;
    const timer = setTimeout(() => setStatus(''), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [status]);
  const copy = () =>
    copyText(typeof text === 'string' ? text : text()).then(
      () => setStatus('Copied'),
      () => setStatus('Copy failed'),
    );
  return (
    <button type="button" class="quiet copy" onClick={copy}>
      {prefix && !status && <span class="hidden">{prefix} </span>}
      <span aria-live="polite">{status || label}</span>
    </button>
  );
}
