/** Pages that show a teaser and ask for a subscription. */
import { anyOf, type PhraseRule } from './phrase-rule.ts';

export const PAYWALL: PhraseRule = {
  kind: 'paywall',
  source: 'https://developers.google.com/search/docs/appearance/structured-data/paywalled-content',
  says: anyOf({
    en: [
      '\\b(?:premium|subscriber|member)s?[ -](?:only )?(?:article|story|content|post)\\b',
      '\\bbecome a (?:member|subscriber)[^.!?]{0,30}(?:access|read|continue|unlock)',
      '\\b(?:subscribe|register|log in|sign up|join)\\b[^.!?]{0,30}to (?:unlock|read|continue|finish)(?: reading)?(?: (?:this|the full|the rest|the article|the story|our|articles?|stories)\\b|$)',
      '\\b(?:unlock|finish|keep|continue) (?:reading )?(?:this|the) (?:full |entire |whole |complete )?(?:article|story|post|report)\\b',
      '\\b(?:this|the) (?:article|story|post|report|issue|content|episode)[^.!?]{0,30}\\b(?:is )?(?:for|behind|locked|reserved|exclusive)[^.!?]{0,20}(?:subscriber|member|paywall|premium|patron)',
      '\\bfree (?:articles?|stories|reads?) (?:left|remaining|this month)|\\byour (?:free|monthly) (?:article )?limit',
      '\\b(?:subscribe|sign up|register|log in|join|subscription|create (?:an?|your) (?:free )?account|become a (?:member|subscriber))[^.!?]{0,60}to (?:continue|keep|read|unlock|access|view|finish|see)\\b[^.!?]{0,30}(?:reading|read\\b|story|article|post\\b|full\\b|rest of)',
      '\\bto (?:continue|keep) reading\\b',
      '\\b(?:continue|read|unlock|get|access)[^.!?]{0,20}(?:full|rest of (?:the|this)|whole|entire) (?:story|article|post)[^.!?]{0,40}(?:subscri|member|account|sign|trial|pay|free)',
      '\\b(?:this|the) (?:article|story|post|content)[^.!?]{0,30}(?:is )?(?:for|only for|available to|exclusive to|reserved for|only available to)[^.!?]{0,20}(?:subscribers|members|paying|paid)',
      '\\b(?:subscriber|member|premium)s?[- ](?:only|exclusive) (?:story|article|content|post)',
      '\\b(?:for|to) (?:paid|paying) subscribers',
      "\\byou(?:'ve| have) (?:read|reached|used)[^.!?]{0,40}(?:free (?:articles|stories)|article limit|limit of)",
    ],
    de: [
      '(?:weiterlesen|weiter lesen|weiterzulesen)[^.!?]{0,40}(?:abo|plus|premium|mit|testen|registr|anmeld)',
      '(?:abo|abonn|plus|premium|probeabo)[^.!?]{0,60}(?:weiterlesen|weiterzulesen|weiter lesen|vollständig|lesen)',
      '(?:artikel|beitrag|inhalt|text)[^.!?]{0,30}(?:nur )?(?:für|ist)[^.!?]{0,12}(?:abonnent|plus|premium|kostenpflichtig|mitglieder)',
      'exklusiv für abonnent',
    ],
    fr: [
      'il vous reste[^.!?]{0,40}à (?:lire|découvrir)',
      '(?:abonn|inscri|connect)[^.!?]{0,60}(?:lire|suite|continuer|accéder|intégralité)',
      '(?:article|contenu|suite)[^.!?]{0,30}(?:réservée?s?|est réservé)[^.!?]{0,12}(?:aux|à nos)[^.!?]{0,6}abonné',
      'il vous reste[^.!?]{0,30}% (?:de cet article )?à lire',
      'pour lire la suite',
    ],
    es: [
      '(?:suscr[ií]b|regístr|inicia sesión|hazte)[^.!?]{0,60}(?:seguir|continuar|leer|leyendo|acceder)',
      '(?:artículo|contenido|noticia)[^.!?]{0,30}(?:exclusiv|solo|sólo|reservad)[^.!?]{0,15}suscriptores',
      'para (?:seguir|continuar) leyendo',
    ],
    pt: [
      '(?:assin|inscreva|registe|cadastr|subscrev)[^.!?]{0,60}(?:continuar|ler|lendo|acessar|aceder)',
      '(?:conteúdo|artigo|notícia|matéria)[^.!?]{0,30}(?:exclusiv|só|apenas|reservad)[^.!?]{0,15}(?:assinantes|subscritores)',
      'para continuar (?:lendo|a ler)',
    ],
    it: [
      '(?:abbon|registr|accedi)[^.!?]{0,60}(?:continuare|leggere|leggi|proseguire)',
      '(?:articolo|contenuto)[^.!?]{0,30}(?:riservat|esclusiv|solo)[^.!?]{0,15}abbonati',
      'per continuare a leggere',
    ],
    nl: [
      '(?:abonn|lid|registreer|word)[^.!?]{0,60}(?:verder|lezen|doorlezen|te lezen)',
      '(?:artikel|verhaal)[^.!?]{0,30}(?:alleen|exclusief|enkel)[^.!?]{0,15}(?:abonnees|leden)',
      '(?:om )?verder (?:te )?lezen',
    ],
    pl: [
      '(?:subskry|prenumer|wykup|zaloguj|kup)[^.!?]{0,60}(?:czytać|czytaj|przeczyta|dostęp)',
      '(?:artykuł|treść|tekst)[^.!?]{0,30}(?:tylko|dostępn)[^.!?]{0,20}(?:subskrybent|prenumerator|abonent)',
    ],
    ru: [
      '(?:подпис|оформите|зарегистр)[^.!?]{0,60}(?:читать|чтение|дочитать|продолжить|доступ)',
      '(?:статья|материал|текст)[^.!?]{0,30}(?:только|доступ)[^.!?]{0,20}подписчик',
      'чтобы (?:продолжить чтение|читать дальше|дочитать)',
    ],
    tr: [
      '(?:abone|üye)[^.!?]{0,50}(?:okum|devam)',
      '(?:haber|yazı|makale)[^.!?]{0,20}(?:yalnızca|sadece)[^.!?]{0,10}(?:abone|üye)',
    ],
    ja: [
      'ここから先[^。]{0,20}(?:会員|有料|購読|登録)|有料会員(?:限定|のみ)|残り[\\d,]{1,6}文字',
      '(?:続き|この先|全文|残り)[^。]{0,20}(?:会員|登録|購読|有料|ログイン|お読み)',
      '(?:有料会員|会員)(?:限定|専用)の?(?:記事|コンテンツ)',
      'この記事は(?:有料|会員)',
    ],
    zh: [
      '(?:订阅|訂閱|付费|付費|开通会员|成为会员)[^。]{0,20}(?:阅读|閱讀|查看|继续|全文|解锁)',
      '(?:全文|本文|剩余|剩餘)[^。]{0,20}(?:付费|付費|订阅|訂閱|会员|會員)',
    ],
    ko: ['(?:구독|유료|회원)[^.]{0,25}(?:읽|전문|전체|계속|기사)', '이 (?:기사|콘텐츠)는[^.]{0,12}(?:유료|회원|구독)'],
    ar: [
      '(?:اشترك|سجل)[^.]{0,40}(?:لمتابعة|لقراءة|القراءة|المقال)',
      '(?:المقال|المحتوى)[^.]{0,20}(?:للمشتركين|للأعضاء)',
    ],
    others: [
      '(?:bli|är du) prenumerant[^?]{0,80}|(?:vill du )?läsa (?:hela|vidare)[^.?]{0,20}(?:artikel|texten|\\?)|(?:artikeln|innehållet)[^.]{0,16}(?:är låst|för (?:våra )?prenumeranter|kräver)',
      '(?:bliv|bli) (?:abonnent|medlem)[^.]{0,40}(?:læs|les|adgang|tilgang)|(?:artik[ek]el|sak)\\w{0,3}[^.]{0,24}(?:forbeholdt|kun for|for) abonnent|(?:læs|les) (?:hele|resten)[^.]{0,40}(?:abonn|logg|medlem)',
      'tilaa[^.]{0,40}(?:lue|jatka|lukea)|(?:juttu|artikkeli)[^.]{0,30}(?:tilaajille|vain tilaaj)',
      'předplat\\w{0,6}[^.]{0,50}(?:číst|čten|článek|obsah|odemkn|pokračov)|(?:článek|obsah|text)[^.]{0,30}(?:pouze|jen)?[^.]{0,6}pro předplatitel|(?:odemkn|dočíst|číst dál)\\w{0,4}[^.]{0,30}(?:předplat|člán)',
      'előfizet\\w{0,8}[^.]{0,50}(?:olvas|cikk|tartalom|hozzáfér)|(?:cikk|tartalom)[^.]{0,30}(?:csak)?[^.]{0,6}előfizető',
      '(?:передплат|підпи)\\w{1,6}[^.]{0,50}(?:читати|статт|продовж)',
      '\\babon\\w{1,6}[^.]{0,50}(?:\\bciti|articol|\\bcontinua)',
      'berlangganan[^.]{0,40}(?:membaca|artikel|lanjut)',
      'đăng ký[^.]{0,30}(?:đọc tiếp|đọc toàn|bài viết)',
      'מנוי\\w{0,3}[^.]{0,40}(?:לקרוא|להמשיך|כתבה)',
      'συνδρομ\\w{1,6}[^.]{0,40}(?:διαβάσ|άρθρο)',
      '(?:prenumer|bli prenumerant|logga in)[^.]{0,40}(?:läsa|läs vidare)',
      '(?:abonn)[^.]{0,40}(?:læse|lese|læs|les) (?:videre|hele)',
      '(?:předpla)[^.]{0,40}(?:číst|čtení|dočíst)',
    ],
  }),
  titleLetters: 0,
  textLetters: 420,
};
