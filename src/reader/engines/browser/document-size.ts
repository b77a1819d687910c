/** Counts the bytes of the page's own document as the browser decodes them, and stops the loading of one without end. */
import type { CDPSession } from 'playwright-core';

/** A document of small elements takes some sixty times its bytes in a browser, and so does text of short lines. */
const MAX_BYTES = 6 * 1024 * 1024;

/** `overflowed` is told once a document, when no more of it is loaded. */
export async function boundDocument(session: CDPSession, overflowed: () => void): Promise<void> {
  const { frameTree } = await session.send('Page.getFrameTree');
  const frame = frameTree.frame.id;
  let document: string | undefined;
  let bytes = 0;
  session.on('Network.requestWillBeSent', ({ requestId, loaderId, frameId }) => {
    // A navigation has the number of the loader that it makes.
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
  // Nothing of it is read through this session, so nothing is to be kept for it.
  await session.send('Network.enable', { maxTotalBufferSize: 1, maxResourceBufferSize: 1, maxPostDataSize: 0 });
}
