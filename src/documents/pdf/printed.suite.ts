/** Test helpers: files printed by a real browser and by LibreOffice, and the parsed result. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findBrowser } from '../../reader/engines/browser/find.ts';
import type { ParsedDocument, ParseOptions } from '../document.ts';
import { kind } from './pdf.ts';

export interface Printer {
  /** Prints HTML as PDF, by default on A4 with margins of 2 cm. */
  print(html: string, options?: Parameters<Page['pdf']>[0]): Promise<Uint8Array>;
  close(): Promise<void>;
}

export async function startPrinter(): Promise<Printer> {
  const found = findBrowser({
    configured: process.env.LECTERN_BROWSER,
    dataDir: process.env.LECTERN_DATA_DIR ?? '.lectern',
  });
  if (!found) throw new Error('these tests need a browser: run node scripts/browser.mjs');
  const browser: Browser = await chromium.launch({
    executablePath: found.path,
    args: ['--no-sandbox'],
    env: { ...(process.env as Record<string, string>), ...found.env },
  });
  return {
    async print(html, options) {
      const page = await browser.newPage();
      try {
        await page.setContent(html);
        const margin = { top: '2cm', right: '2cm', bottom: '2cm', left: '2cm' };
        return new Uint8Array(await page.pdf({ format: 'A4', margin, ...options }));
      } finally {
        await page.close();
      }
    },
    close: () => browser.close(),
  };
}

/** Converts files (name to content) to PDF with LibreOffice in one run, in the given order. */
export function printByOffice(files: Readonly<Record<string, string | Uint8Array>>, filter = 'pdf'): Uint8Array[] {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-office-'));
  try {
    const names = Object.keys(files);
    for (const name of names) writeFileSync(path.join(folder, name), files[name]!);
    const profile = `-env:UserInstallation=file://${path.join(folder, 'profile')}`;
    execFileSync(
      'soffice',
      ['--headless', profile, '--convert-to', filter === 'pdf' ? 'pdf' : `pdf:${filter}`, '--outdir', folder, ...names],
      {
        cwd: folder,
        stdio: 'ignore',
        timeout: 120_000,
      },
    );
    return names.map((name) => new Uint8Array(readFileSync(path.join(folder, name.replace(/\.\w+$/, '.pdf')))));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const parsePdf = (bytes: Uint8Array, options: ParseOptions = {}): Promise<ParsedDocument> =>
  kind.parse({ path: '', size: bytes.length, mediaType: 'application/pdf', name: 'test.pdf' }, bytes, options);
