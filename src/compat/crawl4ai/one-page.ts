/** crawl4ai's `/html` and `/screenshot`. */
import { problem } from '#errors.ts';
import { blockedMessage } from '../blocked.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { readFields } from '../fields.ts';
import { sentFields, showIgnored } from '../ignored.ts';
import type { ReadAnswer } from '../native/read.ts';
import { URL_FIELDS } from './fields.ts';
import { targetOf } from './target.ts';

async function readAs(call: CompatCall, respondWith: string): Promise<ReadAnswer & { readonly url: string }> {
  const { url } = readFields(URL_FIELDS, call.body);
  const answer = await call.native.read(call, { ...targetOf(url), respondWith });
  if (answer.page.blocked) throw problem('BlockedPageError', { message: blockedMessage(answer.page.blocked) });
  return { ...answer, url };
}

export async function html(call: CompatCall): Promise<unknown> {
  const { page, url } = await readAs(call, 'html');
  return sendJson(call.reply, { html: page.html ?? '', url, success: true });
}

/** The picture is in the answer. Nothing is written to `output_path`, which would be a file of the server. */
export async function screenshot(call: CompatCall): Promise<unknown> {
  const { rendition } = await readAs(call, 'screenshot');
  const sent = call.body as Record<string, unknown>;
  showIgnored(call.reply, sentFields(sent, ['output_path', 'screenshot_wait_for']));
  const bytes = Buffer.from(rendition.screenshot ?? new Uint8Array());
  return sendJson(call.reply, { success: true, screenshot: bytes.toString('base64') });
}
