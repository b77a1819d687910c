/**
 * Runs functions inside a page, in an isolated JavaScript world: with the page's DOM but without its scripts. Nothing
 * that a page overrides (`querySelectorAll`, `Element.prototype`, `JSON`) therefore affects them. Playwright's
 * `evaluate` runs in the page's world, so this uses the DevTools protocol. Every call has a time limit, since a page in
 * an endless loop never responds.
 */
import type { CDPSession, Page } from 'playwright-core';
import { within } from '#concurrency/deadline.ts';

const WORLD_NAME = 'lectern';
const ATTACH_MS = 1_000;

export interface World {
  readonly session: CDPSession;
  /** Calls a function inside the page. The function is sent as source, so it must not use anything outside itself. */
  call<In, Out>(run: (input: In) => Out | Promise<Out>, input: In, limitMs: number, frame?: FrameHandle): Promise<Out>;
  /** Runs a function in this world at the start of each document of the page. Its argument `tell` calls `onMessage`. */
  atEachDocument(run: (tell: (message: string) => void) => void, onMessage: (message: string) => void): Promise<void>;
  /** The frame inside an element that the last `call` in `frame` stored in `globalThis.framesFound`. */
  frameOf(index: number, limitMs: number, frame?: FrameHandle): Promise<FrameHandle | undefined>;
  /** Call this before `frameOf`: frames of other sites move to other processes when they navigate. */
  attachFrames(): void;
  /** Stops the running scripts of the page and disables scripts, which makes a hanging page accessible. */
  halt(): Promise<void>;
}

/** A frame, and the session of the process that runs it. */
export interface FrameHandle {
  readonly session: CDPSession;
  readonly id: string;
}

interface RemoteResult {
  readonly result: { readonly value?: unknown; readonly objectId?: string };
  readonly exceptionDetails?: { readonly text: string; readonly exception?: { readonly description?: string } };
}

export async function openWorld(page: Page): Promise<World> {
  const session = await page.context().newCDPSession(page);
  const main = async (): Promise<FrameHandle> => {
    const { frameTree } = await session.send('Page.getFrameTree');
    return { session, id: frameTree.frame.id };
  };

  const invoke = async (source: string, input: unknown, byValue: boolean, frame: FrameHandle) => {
    const { executionContextId } = await frame.session.send('Page.createIsolatedWorld', {
      frameId: frame.id,
      worldName: WORLD_NAME,
    });
    const answer: RemoteResult = await frame.session.send('Runtime.callFunctionOn', {
      functionDeclaration: source,
      arguments: [{ value: input }],
      executionContextId,
      returnByValue: byValue,
      awaitPromise: true,
    });
    if (answer.exceptionDetails) {
      const { exception, text } = answer.exceptionDetails;
      throw new Error(`in the page: ${exception?.description ?? text}`);
    }
    return answer.result;
  };

  let attached: Promise<FrameHandle[]> = Promise.resolve([]);

  return {
    session,
    async call<In, Out>(run: (input: In) => Out | Promise<Out>, input: In, limitMs: number, frame?: FrameHandle) {
      const work = async () => (await invoke(sourceOf(run), input, true, frame ?? (await main()))).value as Out;
      return within(limitMs, work());
    },
    async atEachDocument(run, onMessage) {
      const binding = 'lecternTell';
      session.on('Runtime.bindingCalled', (event) => {
        if (event.name === binding) onMessage(event.payload);
      });
      await Promise.all([
        session.send('Page.enable'),
        session.send('Runtime.enable'),
        session.send('Runtime.addBinding', { name: binding, executionContextName: WORLD_NAME }),
        session.send('Page.addScriptToEvaluateOnNewDocument', {
          source: `(${sourceOf(run)})(globalThis.${binding})`,
          worldName: WORLD_NAME,
        }),
      ]);
    },
    async frameOf(index, limitMs, frame) {
      const from = frame ?? (await main());
      const find = async () => {
        const { objectId } = await invoke(sourceOf(foundFrame), index, false, from);
        if (!objectId) return undefined;
        const { node } = await from.session.send('DOM.describeNode', { objectId });
        if (!node.frameId) return undefined;
        const other = (await attached).find(({ id }) => id === node.frameId);
        return other ?? { session: from.session, id: node.frameId };
      };
      return within(limitMs, find());
    },
    attachFrames() {
      attached = attachAll(page);
    },
    async halt() {
      await Promise.all([
        session.send('Emulation.setScriptExecutionDisabled', { value: true }),
        session.send('Runtime.terminateExecution'),
      ]);
    },
  };
}

async function attachAll(page: Page): Promise<FrameHandle[]> {
  const frames = page.frames().filter((frame) => frame.parentFrame());
  const attached = await Promise.all(
    frames.map(async (frame) => {
      const attach = async () => {
        // Fails for frames that run in the process of their parent; those are reached through the parent's session.
        const session = await page.context().newCDPSession(frame);
        const { frameTree } = await session.send('Page.getFrameTree');
        return { session, id: frameTree.frame.id };
      };
      // A frame that is navigating may never respond.
      return within(ATTACH_MS, attach()).catch(() => undefined);
    }),
  );
  return attached.filter((handle) => handle !== undefined);
}

function foundFrame(index: number): unknown {
  return (globalThis as { framesFound?: unknown[] }).framesFound?.[index];
}

/** Some loaders wrap functions in a helper that sets their name; the page has no such helper. */
const sourceOf = (run: (...input: never[]) => unknown) =>
  `function (...input) { const __name = (named) => named; return (${run.toString()})(...input); }`;
