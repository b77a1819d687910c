/**
 * Runs our functions inside a page, in a JavaScript world of their own: the page's DOM without the page's scripts, so
 * nothing that a page overrides (`querySelectorAll`, `Element.prototype`, `JSON`) can touch them. Playwright's own
 * `evaluate` runs in the world of the page, so this goes over the DevTools protocol. Every call has a time limit, since
 * a page in an endless loop never answers.
 */
import type { CDPSession, Page } from 'playwright-core';
import { within } from '#concurrency/deadline.ts';

const NAME = 'lectern';
const ATTACH_MS = 1_000;

export interface World {
  readonly session: CDPSession;
  /** The result of a function that is sent to the page as its source: it must use nothing from outside itself. */
  call<In, Out>(run: (input: In) => Out | Promise<Out>, input: In, limitMs: number, frame?: FrameHandle): Promise<Out>;
  /** Runs a function at the start of each document of the page, in this world. `tell` in it calls `heard`. */
  atEachDocument(run: (tell: (message: string) => void) => void, heard: (message: string) => void): Promise<void>;
  /** The frame inside each of the elements that the last `call` of that frame left in `globalThis.framesFound`. */
  frameOf(index: number, limitMs: number, frame?: FrameHandle): Promise<FrameHandle | undefined>;
  /** To be called before `frameOf`: frames of other sites move to processes of their own whenever they navigate. */
  seekFrames(): void;
  /** Ends what the page's scripts are doing and lets none run again: the way to a page that hangs. */
  halt(): Promise<void>;
}

/** A frame, and the session of the process that it lives in. */
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
      worldName: NAME,
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

  let others: Promise<FrameHandle[]> = Promise.resolve([]);

  return {
    session,
    async call<In, Out>(run: (input: In) => Out | Promise<Out>, input: In, limitMs: number, frame?: FrameHandle) {
      const work = async () => (await invoke(sourceOf(run), input, true, frame ?? (await main()))).value as Out;
      return within(limitMs, work());
    },
    async atEachDocument(run, heard) {
      const binding = 'lecternTell';
      session.on('Runtime.bindingCalled', (event) => {
        if (event.name === binding) heard(event.payload);
      });
      await Promise.all([
        session.send('Page.enable'),
        session.send('Runtime.enable'),
        session.send('Runtime.addBinding', { name: binding, executionContextName: NAME }),
        session.send('Page.addScriptToEvaluateOnNewDocument', {
          source: `(${sourceOf(run)})(globalThis.${binding})`,
          worldName: NAME,
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
        const other = (await others).find(({ id }) => id === node.frameId);
        return other ?? { session: from.session, id: node.frameId };
      };
      return within(limitMs, find());
    },
    seekFrames() {
      others = attachFrames(page);
    },
    async halt() {
      await Promise.all([
        session.send('Emulation.setScriptExecutionDisabled', { value: true }),
        session.send('Runtime.terminateExecution'),
      ]);
    },
  };
}

async function attachFrames(page: Page): Promise<FrameHandle[]> {
  const frames = page.frames().filter((frame) => frame.parentFrame());
  const attached = await Promise.all(
    frames.map(async (frame) => {
      const attach = async () => {
        // Refused for frames that share their parent's process; those are reached through its session.
        const session = await page.context().newCDPSession(frame);
        const { frameTree } = await session.send('Page.getFrameTree');
        return { session, id: frameTree.frame.id };
      };
      // A frame that is just moving may never answer.
      return within(ATTACH_MS, attach()).catch(() => undefined);
    }),
  );
  return attached.filter((handle) => handle !== undefined);
}

function foundFrame(index: number): unknown {
  return (globalThis as { framesFound?: unknown[] }).framesFound?.[index];
}

/** Some loaders wrap functions in a helper that names them; the page has no such helper. */
const sourceOf = (run: (...input: never[]) => unknown) =>
  `function (...input) { const __name = (named) => named; return (${run.toString()})(...input); }`;
