/**
 * Valid names of accounts and keys: 1 to 200 characters on one line. Control characters, line breaks and characters that
 * change the text direction are excluded, so that a name cannot disturb the text around it.
 */
export const NAME_PATTERN = /^(?=\S)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]{1,200}$/u;
