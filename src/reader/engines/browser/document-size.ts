/** Counts the decoded bytes of the page's main document, and stops loading when there are too many. */
import type { CDPSession } from 'playwright-core';

/** A document with small elements or short lines takes about sixty times its size in the browser's memory. */
const MAX_BYTES = 6 * 1024 * 1024;

/** Calls `overflowed` once for each document that is stopped. */
export async function limitDocumentSize(session: CDPSession, overflowed: () => void): Promise<void> {
  const { frameTree } = await session.send('Page.getFrameTree');
  const frame = frameTree.frame.id;
  let document: string | undefined;
  let bytes = 0;
  session.on('Network.requestWillBeSent', ({ requestId, loaderId, frameId }) => {
    // For navigations the request id equals the loader id.
    if (frameId !== frame || requestId !== loaderId) return;
    document = requestId;
    bytes = 0;
  });
  session.on('Network.dataReceived', ({ requestId, dataLength }) => {
    if (requestId !== document) return;
    bytes += dataLength;
    if (bytes <= MAX_BYTES) return;
    document = undefined;
    void session.send('Page.stopLoading').catch(() => {});
    overflowed();
  });
  // This session reads no bodies, so the browser need not buffer any.
  await session.send('Network.enable', { maxTotalBufferSize: 1, maxResourceBufferSize: 1, maxPostDataSize: 0 });
}
