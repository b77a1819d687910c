/** Chat completions over pictures (contract, section 7) through a real server, real text recognition and real files. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { A4, BRIDGE_ROWS, BRIDGES, drawnPage, drawRows, drawText, RIVERS } from '#models/drawn-pages.suite.ts';
import { type ChatHost, startChatHost } from '../support/chat-host.ts';

const LONG = 240_000;
let host: ChatHost;
beforeAll(async () => {
  host = await startChatHost();
});
afterAll(() => host.close());

const page = drawnPage(A4, (context) => {
  drawText(context, 'A Page of Two Columns', { left: 330, top: 100, width: 800, size: 44, bold: true });
  drawText(context, `${RIVERS} ${BRIDGES}`, { left: 110, top: 220, width: 480, size: 22 });
  drawText(context, `${BRIDGES} ${RIVERS}`, { left: 650, top: 220, width: 480, size: 22 });
  drawRows(context, { left: 110, top: 1_000, width: 240, size: 22 });
});
const dataUri = (bytes: Uint8Array, type = 'image/png') =>
  `data:${type};base64,${Buffer.from(bytes).toString('base64')}`;
const asking = (url: string, more: object = {}) => ({
  model: 'lectern-ocr',
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
  ...more,
});

describe('a page of two columns with a table', () => {
  it(
    'is Markdown',
    async () => {
      const { status, body } = await host.post('/v1/chat/completions', asking(dataUri(page)));
      expect(status).toBe(200);
      console.log(body.choices[0].message.content, body.usage);
    },
    LONG,
  );
});
void BRIDGE_ROWS;
