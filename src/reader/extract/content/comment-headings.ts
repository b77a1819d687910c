/**
 * Recognizes the headings of comment sections by their text, in common languages. A heading that only says "Comments"
 * is no evidence: it is also a chapter of many manuals.
 */

const NOUNS =
  'comments?|kommentare?r?|commentaires?|comentarios?|comentários?|commenti|commento|reacties?|komentarz[ey]?|komentáře?|kommenttia?|yorum(?:lar)?|комментари[йяеи]в?|відгук(?:ів|и)?|コメント|评论|評論|留言|댓글|تعليقات?';
const COUNT = String.raw`\(?\d[\d.,]{0,8}\)?`;

const PATTERNS = [
  // "12 comments", "12 comments on “Glaze”"
  `^${COUNT}\\s?(?:reader |user )?(?:${NOUNS})(?!\\p{L})`,
  // "Comments (12)", "Comments: 12"
  `^(?:${NOUNS})\\s?(?:\\(\\s?\\d[\\d.,]{0,8}\\s?\\)|:\\s?\\d[\\d.,]{0,8})$`,
  // "3 responses to “Glaze”", "One thought on “Glaze”", "4 replies"
  `^(?:${COUNT}|one|two|no)\\s(?:responses?|thoughts?|replies|reply|comments?) (?:to|on) ["“”«‘]`,
  `^${COUNT}\\s(?:responses|replies|antworten|réponses|respuestas|risposte|respostas|odpowiedzi|svar)$`,
  // "Leave a comment", in the wording of common blog systems.
  '^(?:leave|post|write|add|submit|make) (?:a|your) (?:new )?(?:comment|reply|response)(?!\\p{L})',
  '^(?:schreiben? sie|schreibe|hinterlass(?:e|en sie)?) (?:einen|ihren|deinen) kommentar',
  '^(?:einen )?kommentar (?:schreiben|hinterlassen|verfassen|abgeben)',
  '^(?:laissez?r?|poster|écrire|ajouter) (?:un|votre) commentaire',
  '^dej(?:a|ar|e) (?:un comentario|una respuesta|tu comentario)',
  '^(?:lascia|scrivi) un commento',
  '^deix(?:e|ar) (?:um comentário|uma resposta|seu comentário)',
  '^(?:geef|plaats) een reactie',
  '^(?:dodaj|zostaw|napisz) (?:komentarz|odpowiedź)',
  '^(?:skriv en|legg igjen en|lämna en) kommentar|^(?:lämna|skriv) ett svar',
  '^(?:napsat|přidat) komentář',
  '^bir (?:yanıt|yorum) (?:yazın|yaz)',
  '^(?:добавить|оставить) комментарий|^добавить ответ',
  '^コメントを(?:残す|書く|投稿)|^发表(?:评论|回复)|^發表(?:評論|留言|迴響)|^댓글 (?:남기기|쓰기)',
  "^(?:reader|readers’|readers'|user|visitor) comments$|^leserkommentare$|^commentaires des lecteurs$",
];
const HEADING = new RegExp(PATTERNS.join('|'), 'iu');

/** Longer texts are not headings. The title of an article may be part of the heading. */
const MAX_CHARACTERS = 200;

export const isCommentHeading = (text: string): boolean => text.length <= MAX_CHARACTERS && HEADING.test(text);
