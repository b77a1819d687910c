/** Pages that ask for the age of the visitor first. */
import { anyOf, type PhraseRule, whole } from './phrase-rule.ts';

const AGE_18 = '(?:16|18|19|20|21)';

export const AGE: PhraseRule = {
  kind: 'age',
  source: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.4',
  says: anyOf({
    en: [
      `\\b(?:are you|you are|you must be|i am|i'm|must be|you're|being|confirm you(?:'re| are))[^.!?]{0,20}(?:over|at least|above|older than|of legal)[^.!?]{0,12}(?:${AGE_18}|drinking|smoking|age)`,
      `\\b${AGE_18}(?: years)?(?: of age| old)?(?:,)? (?:or|and) (?:older|over|above)`,
      `\\b(?:over|under) ${AGE_18}\\b`,
      '\\b(?:legal|minimum) (?:drinking |smoking |purchase |gambling )?age\\b',
      '\\b(?:enter|confirm|select|provide|verify|give) your (?:date of birth|birth ?date|birthday|age|year of birth)',
      '\\bappropriate for all ages|\\bage[- ]restricted|\\bmature content|\\badult (?:content|material|site)',
    ],
    de: [
      `(?:bist du|sind sie|ich bin|du musst|sie müssen|mindestens|über|ab)[^.!?]{0,20}${AGE_18} ?(?:jahre)?`,
      'volljährig',
      '(?:geburtsdatum|geburtsjahr|dein alter|ihr alter)',
      '(?:altersprüfung|altersverifikation|altersabfrage|altersnachweis|altersbeschränk)',
    ],
    fr: [
      `(?:avez-vous|j'ai|vous devez avoir|vous avez|plus de|moins de|au moins)[^.!?]{0,20}${AGE_18} ans`,
      '(?:êtes-vous|suis|être) majeur',
      "âge légal|date de naissance|vérification de l'âge|réservé aux (?:adultes|majeurs)",
    ],
    es: [
      `(?:mayor|menor)(?:es)? de (?:${AGE_18}|edad)`,
      `(?:tienes|tiene|tengo)[^.!?]{0,15}${AGE_18} años`,
      'fecha de nacimiento|edad legal|verificación de edad|año de nacimiento',
    ],
    pt: [
      `(?:maior|menor)(?:es)? de (?:${AGE_18}|idade)`,
      `(?:tem|tens|tenho|possui)[^.!?]{0,15}${AGE_18} anos`,
      'data de nascimento|idade legal|verificação de idade',
    ],
    it: [
      'maggiorenn|maggiore età',
      `(?:hai|ho|avere|avete)[^.!?]{0,20}${AGE_18} anni`,
      "data di nascita|età legale|verifica (?:dell')?età",
    ],
    nl: [
      `(?:ben je|bent u|ik ben|ouder dan|jonger dan)[^.!?]{0,20}${AGE_18}`,
      `${AGE_18} jaar`,
      'geboortedatum|leeftijd(?:s(?:controle|verificatie|grens)|)',
    ],
    pl: [`(?:masz|mam|ukończ)[^.!?]{0,20}${AGE_18} lat`, 'pełnoletni|data urodzenia|datę urodzenia|weryfikacja wieku'],
    ru: [
      `(?:вам|мне)[^.!?]{0,20}${AGE_18}`,
      `${AGE_18} лет|старше ${AGE_18}|${AGE_18}\\+`,
      'совершеннолетн|дат[ау] рождения|подтверждение возраста',
    ],
    tr: [`${AGE_18} yaş`, 'doğum tarih|reşit|yaş doğrulama'],
    ja: [`${AGE_18}歳(?:以上|未満)`, '年齢(?:確認|認証|制限)|生年月日|成人向け|未成年'],
    zh: [
      `(?:已?满|滿|年满|年滿|未满|未滿)${AGE_18}`,
      `${AGE_18}岁|${AGE_18}歲`,
      '出生(?:日期|年月)|年龄(?:验证|确认)|成年人|未成年',
    ],
    ko: [`${AGE_18}세`, '성인 ?인증|연령 ?확인|생년월일|미성년|청소년'],
    ar: [`${AGE_18} (?:عام|سنة)`, 'تاريخ (?:ميلادك|الميلاد)|التحقق من العمر|السن القانوني'],
    others: [`${AGE_18} år`, `${AGE_18} let`, `${AGE_18} vuotta`, `${AGE_18} років`],
  }),
  names: whole({
    en: [
      'age (?:check|verification|gate|confirmation|restricted)',
      `[^:]{0,40}: over ${AGE_18}`,
      `(?:are you )?over ${AGE_18}`,
      'adults only',
      'warning: adult content',
    ],
    de: ['alters(?:prüfung|verifikation|abfrage|kontrolle)', 'jugendschutz'],
    fr: ["vérification (?:de l'|d')âge"],
    others: [
      'verificación de edad',
      'verificação de idade',
      "verifica (?:dell')?età",
      'leeftijds(?:controle|verificatie)',
      'weryfikacja wieku',
      '年齢確認',
      '年龄(?:验证|确认)',
      '성인 ?인증',
    ],
  }),
  titleLetters: 400,
  textLetters: 0,
};
