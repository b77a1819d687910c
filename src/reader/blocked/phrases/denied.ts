/** Pages that deny access. */
import { anyOf, type PhraseRule, whole } from './phrase-rule.ts';

const DENIED_SAYS = {
  en: [
    '\\baccess (?:to (?:this|the|our) (?:requested )?(?:page|site|web ?site|resource|url|server|document|content|service|application|system|file|directory|object|portal|host|area)\\b[^.!?]{0,30})?(?:(?:is|was|has been|have been) )?(?:temporarily |permanently )?(?:denied|blocked|forbidden|refused|not allowed)',
    '\\baccess (?:to (?:this|the|our) (?:requested )?(?:page|site|web ?site|resource|url|server|document|content|service|application|system|file|directory|object|portal|host|area)\\b[^.!?]{0,30})?(?:is|was|has been) (?:temporarily )?(?:restricted|limited)',
    "\\b(?:you have|you've|you were|you are|your (?:ip|request|access|connection|network|account|device)(?: address)?[^.!?]{0,30}(?:has|was|have|is)) (?:been )?(?:temporarily |permanently )?(?:blocked|banned|denied|rejected|blacklisted|refused)",
    '\\b(?:the|this|your) (?:request|requested url|visit)[^.!?]{0,20}(?:was|is|has been) (?:blocked|rejected|denied|refused|turned away)',
    "\\byou (?:don't|do not) have (?:permission|access|authori[sz]ation)",
    '\\byou are (?:not authori[sz]ed|not allowed|unable) to (?:access|view|see)',
    '\\brequest (?:blocked|rejected)',
    '\\bblocked by (?:network|our|a|the)? ?(?:security|firewall|waf)',
    '\\b(?:owner|administrator) (?:of this (?:site|website))? ?[^.!?]{0,40}has (?:banned|blocked|denied)',
    '\\bweb application firewall',
    '\\b403[ :,-]*(?:error|forbidden)',
    '\\bacl access (?:denied|blocked)',
  ],
  de: [
    '(?:zugriff|zugang|anfrage)[^.!?]{0,40}(?:verweigert|gesperrt|nicht gestattet|blockiert|abgelehnt|nicht erlaubt|untersagt|verboten)',
    '(?:ihre?|deine?) (?:ip|anfrage|verbindung|zugang)[^.!?]{0,40}(?:gesperrt|blockiert|abgelehnt)',
    'keine (?:berechtigung|zugriffsrechte|rechte)',
  ],
  fr: [
    'accès[^.!?]{0,40}(?:refusé|interdit|bloqué|non autorisé)',
    'vous (?:avez été|êtes) (?:bloqué|banni)',
    "vous n'(?:avez|êtes) pas (?:la permission|l'autorisation|le droit|autorisé|les droits)",
    'requête[^.!?]{0,30}(?:bloquée|rejetée|refusée)',
  ],
  es: [
    'acceso[^.!?]{0,40}(?:denegado|prohibido|bloqueado|no autorizado|no permitido)',
    '(?:ha sido|has sido|fue|está) (?:bloquead|rechazad|denegad)',
    'no (?:tiene|tienes) (?:permiso|autorización|acceso)',
  ],
  pt: [
    'acesso[^.!?]{0,40}(?:negado|proibido|bloqueado|recusado|não autorizado|não permitido)',
    '(?:você |sua? (?:ip|pedido|solicitação|endereço)[^.!?]{0,20})?foi (?:bloquead|rejeitad)',
    'não tem (?:permissão|autorização|acesso)',
  ],
  it: [
    'accesso[^.!?]{0,40}(?:negato|vietato|bloccato|non consentito|non autorizzato)',
    '(?:è stat[oa]|sei stat[oa]) (?:bloccat|respint|rifiutat)',
    'non (?:hai|disponi|avete|si dispone)[^.!?]{0,20}(?:permess|autorizzazion)',
  ],
  nl: [
    'toegang[^.!?]{0,40}(?:geweigerd|verboden|geblokkeerd|ontzegd)',
    '(?:verzoek|ip-adres|u bent|je bent)[^.!?]{0,30}(?:geblokkeerd|geweigerd)',
    'geen (?:toegang|toestemming)',
  ],
  pl: [
    'dostęp[^.!?]{0,40}(?:zabroniony|zablokowany|wzbroniony|odmówion)',
    '(?:odmowa|odmówiono) dostępu',
    'brak (?:dostępu|uprawnień)',
    '(?:żądanie|adres ip)[^.!?]{0,30}(?:zablokowan|odrzucon)',
  ],
  ru: [
    'доступ[^.!?]{0,40}(?:запрещ|ограничен|заблокирован|закрыт)',
    'отказано в доступе',
    '(?:нет|недостаточно) (?:доступа|прав)',
    '(?:запрос|ip)[^.!?]{0,30}(?:заблокирован|отклон)',
  ],
  tr: [
    'erişim[^.!?]{0,40}(?:engellen|reddedil|yasak|kısıtlan)',
    '(?:isteğiniz|ip adresiniz)[^.!?]{0,30}(?:engellen|reddedil)',
    'izniniz yok|yetkiniz yok',
  ],
  ja: [
    'アクセス[^。]{0,20}(?:拒否|禁止|制限され|ブロック|遮断)',
    'アクセス(?:することが)?できません',
    '(?:権限|許可)(?:が|は)?(?:ありません|されていません)',
  ],
  zh: [
    '(?:访问|訪問|存取|请求|請求)[^。]{0,10}(?:拒绝|拒絕|禁止|受限|阻止|拦截|攔截|屏蔽|封禁)',
    '(?:拒绝|拒絕|禁止|无权|無權)(?:访问|訪問|存取)',
    '没有权限|沒有權限',
    '(?:您的?|你的?)(?:ip|请求|請求)[^。]{0,15}(?:被|已)[^。]{0,4}(?:拦截|封禁|屏蔽|阻止|攔截)',
  ],
  ko: ['(?:접근|접속|액세스|요청)[^.]{0,12}(?:거부|차단|금지|제한되)', '권한이 없'],
  ar: [
    '(?:تم|جرى) (?:رفض|حظر|منع)',
    'الوصول[^.]{0,20}(?:مرفوض|محظور|ممنوع)',
    '(?:غير مسموح|غير مصرح|لا تملك (?:إذن|صلاحية)|ليس لديك (?:إذن|صلاحية))',
  ],
  others: [
    'åtkomst (?:nekad|förbjuden)',
    'adgang (?:nægtet|forbudt)',
    'ingen tilgang|tilgang nektet',
    'přístup (?:odepřen|zakázán|zamítnut)',
    'pääsy (?:estetty|evätty)',
    'доступ заборонен',
    'acces (?:interzis|refuzat)',
    'hozzáférés (?:megtagadva|letiltva)',
    'akses (?:ditolak|dilarang)',
  ],
};

const DENIED_NAMES = {
  en: [
    '(?:error )?(?:403|406)(?:[ :,-]*(?:error|forbidden|not acceptable|access denied|access forbidden))?',
    'forbidden',
    'blocked',
    'access (?:denied|forbidden|blocked|restricted|to this page has been denied)',
    '(?:request|url) (?:rejected|blocked|denied)',
    'permission denied',
    'unauthori[sz]ed',
    'not authori[sz]ed',
    'you (?:have been|are|were) blocked',
    "you've been blocked",
    'sorry, you have been blocked',
    'oh noes',
    'not acceptable',
  ],
  de: ['(?:zugriff|zugang) (?:verweigert|gesperrt|verboten)', 'gesperrt', 'verboten'],
  fr: ['accès (?:refusé|interdit|bloqué|limité|restreint)', 'interdit'],
  es: ['acceso (?:denegado|prohibido|restringido)', 'prohibido'],
  pt: ['acesso (?:negado|proibido|restrito)', 'proibido'],
  it: ['accesso (?:negato|vietato|limitato)', 'vietato'],
  nl: ['(?:geen toegang|toegang geweigerd)', 'verboden'],
  pl: ['(?:brak dostępu|dostęp zabroniony|odmowa dostępu|zabronione)'],
  ru: ['доступ (?:запрещ[её]н|ограничен|закрыт)', 'запрещено'],
  tr: ['erişim (?:engellendi|reddedildi|yasak)', 'yasak'],
  ja: ['アクセス(?:拒否|禁止|制限)', '閲覧できません'],
  zh: ['(?:拒绝|禁止)(?:访问|存取)', '访问(?:被拒绝|受限)'],
  ko: ['접근 ?(?:거부|금지|제한|차단)'],
  ar: ['(?:الوصول مرفوض|ممنوع|محظور)'],
};

export const DENIED: PhraseRule = {
  kind: 'denied',
  source: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.4',
  says: anyOf(DENIED_SAYS),
  names: whole(DENIED_NAMES),
  titleLetters: 250,
};
