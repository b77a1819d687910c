/**
 * HTML text to a tree, by the parsing rules of the HTML standard (parse5 does them). The tree is ours: see node.ts.
 */
import { html, type ParserOptions, parse, parseFragment as parseFragmentWith, type TreeAdapter, type TreeAdapterTypeMap } from 'parse5';
import { append, type Attribute, type Child, Comment, Document, detach, Element, insertBefore, type Namespace, type Parent, Text } from './node.ts';

type Map5 = TreeAdapterTypeMap<Parent | Child, Parent, Child, Document, Document, Element, Comment, Text, Element, Comment>;

const NAMESPACES: Record<string, Namespace> = { [html.NS.SVG]: 'svg', [html.NS.MATHML]: 'math' };
const URIS: Record<Namespace, html.NS> = { html: html.NS.HTML, svg: html.NS.SVG, math: html.NS.MATHML };

const adapter: TreeAdapter<Map5> = {
  createDocument: () => new Document(),
  createDocumentFragment: () => new Document(),
  createElement: (name, uri, attributes) => new Element(name, NAMESPACES[uri] ?? 'html', attributes as Attribute[]),
  createCommentNode: (value) => new Comment(value),
  createTextNode: (value) => new Text(value),
  appendChild: (parent, node) => append(parent, node),
  insertBefore: (_, node, reference) => insertBefore(node, reference),
  setTemplateContent: (template, content) => {
    template.content = content;
  },
  getTemplateContent: (template) => template.content!,
  setDocumentType: () => {},
  setDocumentMode: (document, mode) => {
    document.quirks = mode === html.DOCUMENT_MODE.QUIRKS;
  },
  getDocumentMode: (document) => (document.quirks ? html.DOCUMENT_MODE.QUIRKS : html.DOCUMENT_MODE.NO_QUIRKS),
  detachNode: (node) => detach(node),
  insertText: (parent, value) => {
    if (parent.last instanceof Text) parent.last.value += value;
    else append(parent, new Text(value));
  },
  insertTextBefore: (_, value, reference) => {
    if (reference.prev instanceof Text) reference.prev.value += value;
    else insertBefore(new Text(value), reference);
  },
  adoptAttributes: (element, attributes) => {
    for (const entry of attributes) {
      if (!element.attributes.some((own) => own.name === entry.name)) element.attributes.push(entry);
    }
  },
  getFirstChild: (node) => node.first,
  getChildNodes: (node) => {
    const list: Child[] = [];
    for (let child = node.first; child; child = child.next) list.push(child);
    return list;
  },
  getParentNode: (node) => (node as Child).parent,
  getAttrList: (element) => element.attributes,
  getTagName: (element) => element.name,
  getNamespaceURI: (element) => URIS[element.namespace],
  getTextNodeContent: (node) => node.value,
  getCommentNodeContent: (node) => node.value,
  getDocumentTypeNodeName: () => '',
  getDocumentTypeNodePublicId: () => '',
  getDocumentTypeNodeSystemId: () => '',
  getNodeSourceCodeLocation: () => null,
  setNodeSourceCodeLocation: () => {},
  updateNodeSourceCodeLocation: () => {},
  isTextNode: (node): node is Text => node instanceof Text,
  isCommentNode: (node): node is Comment => node instanceof Comment,
  isDocumentTypeNode: (_): _ is Comment => false,
  isElementNode: (node): node is Element => node instanceof Element,
};

const OPTIONS: ParserOptions<Map5> = { treeAdapter: adapter, scriptingEnabled: false };

/** A whole document; there is always an html, head and body element in it. */
export const parseDocument = (source: string): Document => parse<Map5>(source, OPTIONS);

/** The nodes of a piece of HTML, as children of a document of their own. */
export const parseFragment = (source: string): Document => parseFragmentWith<Map5>(source, OPTIONS) as Document;
