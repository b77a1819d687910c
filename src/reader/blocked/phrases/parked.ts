/** Pages of domains that are for sale, parked or expired. */
import { anyOf, type PhraseRule, whole } from './phrase-rule.ts';

export const PARKED: PhraseRule = {
  kind: 'parked',
  source: 'https://www.icann.org/resources/pages/faqs-2014-01-21-en',
  says: anyOf({
    en: [
      '\\b(?:domain|domain name|website address|web address|site)\\b[^.!?]{0,50}(?:is |are |may be |might be |could be |was |has |been )(?:currently |now |just |recently |not yet )?(?:for sale|on sale|parked|expired|available for (?:purchase|sale)|registered|pending|reserved for a customer|being parked)',
      '\\b(?:buy|purchase|get|own|make an offer (?:on|for)|acquire|renew|inquire about) this (?:domain|name)',
      '\\b[a-z0-9-]+\\.[a-z]{2,12}\\b[^.!?]{0,20}\\b(?:is for sale|is parked|has expired|may be for sale|is available for)',
      '\\bparked (?:free|page|domain|for free)|\\bdomain parking',
      '\\bfuture home of\\b',
      '\\bis available for purchase\\b',
      '\\bdomain (?:has )?(?:just )?(?:been )?(?:registered|expired)',
    ],
    de: [
      '(?:domain|internetadresse)[^.!?]{0,50}(?:steht zum verkauf|zu verkaufen|geparkt|kaufen|abgelaufen|registriert|erwerben|reserviert)',
      '[a-z0-9-]+\\.[a-z]{2,12} (?:steht zum verkauf|kaufen|ist geparkt)',
      'hier entsteht (?:eine neue|in kürze|bald)',
    ],
    fr: [
      "(?:domaine|nom de domaine)[^.!?]{0,50}(?:à vendre|en vente|expiré|parqué|acheter|enregistré|réservé|disponible à l'achat)",
    ],
    es: ['dominio[^.!?]{0,50}(?:en venta|a la venta|caducad|expirad|estacionad|aparcad|comprar|registrad)'],
    pt: ['domínio[^.!?]{0,50}(?:à venda|expir|estacionad|comprar|registad|registrad)'],
    it: ['dominio[^.!?]{0,50}(?:in vendita|scaduto|parcheggiat|acquist|registrat)'],
    nl: ['(?:domein|domeinnaam)[^.!?]{0,50}(?:te koop|verlopen|geparkeerd|kopen|geregistreerd|gereserveerd)'],
    pl: ['domen[aęy][^.!?]{0,50}(?:na sprzedaż|wygasł|zaparkowan|kupić|kup |zarejestrowan|utrzymywana)'],
    ru: [
      'домен[^.!?]{0,50}(?:прода[её]тся|продаже|припаркован|истек|купить|зарегистрирован|просрочен)',
      'купить (?:этот )?домен',
    ],
    tr: ['(?:alan adı|domain)[^.!?]{0,50}(?:satılık|süresi|park|satın)'],
    ja: ['ドメイン[^。]{0,30}(?:販売|売り出|売却|購入|期限切れ|取得|パーキング|失効)'],
    zh: [
      '(?:域名|網域|网域|域名)[^。]{0,20}(?:出售|转让|轉讓|过期|過期|停放|购买|售卖|已注册|到期)',
      '(?:购买|出售)(?:此|该|本)?域名',
    ],
    ko: ['도메인[^.]{0,25}(?:판매|만료|구매|등록|파킹)'],
    ar: ['(?:النطاق|الدومين|نطاق)[^.]{0,30}(?:للبيع|معروض|منتهي|انتهت|محجوز)'],
    others: [
      'domän[^.]{0,40}(?:till salu|parkerad|utgång)',
      'domæne[^.]{0,40}(?:til salg|parkeret|udløbe)',
      'domén[^.]{0,40}(?:na prodej|expirov|zaparkov)',
      'domeni[uo][^.]{0,40}(?:de vânzare|expirat)',
    ],
  }),
  names: whole({
    en: [
      '(?:parked|expired) (?:domain|page)(?: name)?',
      'domain (?:for sale|expired|parked|default page)',
      '[a-z0-9.-]+ (?:is )?for sale',
      'this domain is for sale',
      'website expired',
    ],
    others: [
      '[a-z0-9.-]+ steht zum verkauf',
      'domaine à vendre',
      'dominio en venta',
      'domínio à venda',
      'dominio in vendita',
      'домен прода[её]тся',
      '域名出售',
    ],
  }),
  titleLetters: 400,
  textLetters: 300,
};
