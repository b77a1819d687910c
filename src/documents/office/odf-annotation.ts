/** Comments in OpenDocument files (version 1.3, part 3, 14.1). */
import { child, children, textOf, type XmlElement } from '../xml/xml.ts';
import { type Comment, comment } from './annotations.ts';

export function commentOf(annotation: XmlElement): Comment {
  const text = children(annotation).filter(({ name }) => name.startsWith('text:'));
  return comment(textOf(child(annotation, 'dc:creator')), text.map(textOf).join(' '));
}

/** Reads a comment from XML events, from the one after its start to its end. */
export class AnnotationReader {
  private author = '';
  private words = '';
  private into: 'author' | 'text' | undefined;

  open(name: string): void {
    if (name === 'dc:creator') this.into = 'author';
    else if (name === 'dc:date' || name.startsWith('meta:')) this.into = undefined;
    else if (name.startsWith('text:')) {
      this.into = 'text';
      this.words += ' ';
    }
  }

  text(text: string): void {
    if (this.into === 'author') this.author += text;
    else if (this.into === 'text') this.words += text;
  }

  close(name: string): void {
    if (name === 'dc:creator') this.into = undefined;
  }

  get comment(): Comment {
    return comment(this.author, this.words);
  }
}
