/**
 * Types for the parts of the DOM that in-page functions use. The project's types exclude the DOM, so that server code
 * cannot use it by mistake.
 */

export interface PageNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly nodeValue: string | null;
  readonly parentNode: PageNode | null;
  readonly firstChild: PageNode | null;
  readonly nextSibling: PageNode | null;
  readonly textContent: string | null;
  readonly isConnected: boolean;
}

export interface PageRect {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly width: number;
  readonly height: number;
}

export interface PageElement extends PageNode {
  readonly localName: string;
  readonly namespaceURI: string | null;
  readonly attributes: ArrayLike<{ readonly name: string; readonly value: string }>;
  readonly shadowRoot: PageNode | null;
  readonly content?: PageNode;
  readonly parentElement: PageElement | null;
  readonly childElementCount: number;
  readonly children: ArrayLike<PageElement>;
  getAttribute(name: string): string | null;
  hasAttribute(name: string): boolean;
  contains(other: PageNode | null): boolean;
  assignedNodes?(): PageNode[];
  matches(selector: string): boolean;
  checkVisibility(): boolean;
  getBoundingClientRect(): PageRect;
  querySelector(selector: string): PageElement | null;
  remove(): void;
}

export interface PageStyle {
  readonly [property: string]: string;
}

export interface PageDocument extends PageNode {
  readonly documentElement: PageElement | null;
  readonly body: (PageElement & { readonly innerText: string }) | null;
  readonly readyState: 'loading' | 'interactive' | 'complete';
  readonly title: string;
  readonly contentType: string;
  readonly baseURI: string;
  readonly scrollingElement: (PageElement & { readonly scrollHeight: number }) | null;
  querySelector(selector: string): PageElement | null;
  getElementsByTagName(name: string): ArrayLike<PageElement>;
  evaluate(
    xpath: string,
    context: PageNode,
    resolver: null,
    type: number,
    result: null,
  ): { readonly booleanValue: boolean };
  elementFromPoint(x: number, y: number): PageElement | null;
  addEventListener(type: string, listener: () => void, options?: { once?: boolean; capture?: boolean }): void;
}

export interface PageWindow {
  readonly parent: unknown;
  readonly innerWidth: number;
  readonly innerHeight: number;
  readonly scrollX: number;
  readonly scrollY: number;
  readonly location: { readonly href: string };
  getComputedStyle(element: PageElement, pseudo?: string): PageStyle;
  addEventListener(type: string, listener: () => void, options?: { once?: boolean }): void;
  scrollTo(options: { top: number; left?: number; behavior: 'instant' }): void;
  requestAnimationFrame(callback: () => void): number;
}

export interface PageRange {
  selectNodeContents(node: PageNode): void;
  getClientRects(): ArrayLike<PageRect>;
}

export interface PageCanvas {
  new (
    width: number,
    height: number,
  ): {
    getContext(
      kind: '2d',
      options: { willReadFrequently: boolean },
    ): {
      fillStyle: string;
      clearRect(x: number, y: number, width: number, height: number): void;
      fillRect(x: number, y: number, width: number, height: number): void;
      getImageData(
        x: number,
        y: number,
        width: number,
        height: number,
      ): { readonly data: ArrayLike<number> & Iterable<number> };
    } | null;
  };
}

export interface PageMutation {
  readonly addedNodes: ArrayLike<PageNode>;
}

export interface PageObserver {
  observe(target: PageNode, options: { childList?: boolean; subtree?: boolean }): void;
  disconnect(): void;
}
