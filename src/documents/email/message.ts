/** The parts of an email message, as read from an EML or MSG file. */

export interface Message {
  /** In one line; '' if there is none. */
  readonly subject: string;
  /** Fields to show above the body, in order: `From`, `To`, `Cc`, `Date`. Values are plain text. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** ISO 8601. */
  readonly sentTime: string | undefined;
  readonly body: MessageBody;
  readonly attachments: readonly Attachment[];
  /** Warnings about the message itself. */
  readonly notes: readonly string[];
}

export type MessageBody =
  | { readonly kind: 'html' | 'text'; readonly text: string }
  | { readonly kind: 'rtf'; readonly bytes: Uint8Array };

export interface Attachment {
  /** '' if it has none. */
  readonly name: string;
  /** The declared type with its parameters; '' if there is none. */
  readonly contentType: string;
  /** Decodes the content. Throws DocumentError. */
  readonly bytes?: () => Uint8Array;
  /** Reads an attached message that is no file of its own. Throws DocumentError. */
  readonly message?: () => Message;
}
