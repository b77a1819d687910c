/** Pages that are not for the country of the visitor. */
import { anyOf, type PhraseRule } from './phrase-rule.ts';

export const GEO: PhraseRule = {
  kind: 'geo',
  source: 'https://www.rfc-editor.org/rfc/rfc7725#section-3',
  says: anyOf({
    en: [
      "\\b(?:not|isn't|aren't|un|no longer|un(?:fortunately)?)[ -]?(?:yet )?(?:currently )?(?:available|accessible|offered|supported|permitted|licensed|able to [^.!?]{0,30}|viewable|sold)[^.!?]{0,30}(?:in|for|from|to|within|outside)[^.!?]{0,20}(?:country|region|location|territory|area|jurisdiction|part of the world)",
      '\\b(?:your|this|the) (?:current )?(?:country|region|location|territory|jurisdiction)[^.!?]{0,30}(?:restricted|blocked|not (?:supported|available|allowed|permitted)|banned|unsupported)',
      "(?:\\b(?:not|cannot|unable|no|never)\\b|n't\\b)[^.!?]{0,80}\\b(?:in|for|from|outside) your (?:current )?(?:country|region|location|territory|area)\\b",
      '\\bbanned the country or region',
      '\\bblock(?:ed)? access from your (?:country|region)',
      '\\b(?:access|visitors?|requests?|users?|viewers?)[^.!?]{0,12}(?:from|in|outside) (?:your|certain|this|the|some) (?:\\w+ )?(?:country|countries|region|location|territory|jurisdiction)[^.!?]{0,50}(?:restrict|block|den|not|forbid|prohibit|limit|unable|cannot)',
      '\\b(?:country|region|geo(?:graphic(?:al)?)?)[ -]?(?:block|restrict|lock)(?:ed|ion|ions)?\\b',
      '\\b(?:only|exclusively) (?:available|accessible|offered)[^.!?]{0,20}(?:in|from|within|to)[^.!?]{0,30}(?:countries|country|residents|users in|viewers in|united states|uk\\b|canada|territory)',
      '\\b(?:eea|european economic area|eu countries|european union)[^.!?]{0,60}(?:cannot|not|unavailable|unable)',
      '\\b451[ :,-]*unavailable (?:for|due to) legal reasons',
      '\\bunavailable (?:for|due to) legal reasons',
    ],
    de: [
      '(?:in|aus|für) (?:deine[mr]|ihre[mr]|diese[mr]|dein|ihr) (?:land|region|standort|gebiet|aufenthaltsort)[^.!?]{0,50}(?:nicht|gesperrt|eingeschränkt|blockiert)',
      '(?:nicht|gesperrt)[^.!?]{0,30}(?:in|aus|für) (?:deine[mr]|ihre[mr]|diese[mr]|dein|ihr) (?:land|region|standort|gebiet)',
      'aus rechtlichen gründen[^.!?]{0,50}nicht',
      'geoblock|ländersperre',
    ],
    fr: [
      '(?:pas|plus|non|in)[ -]?(?:encore )?(?:disponible|accessible|autorisée?s?|proposée?)[^.!?]{0,30}(?:dans|depuis|pour|en dehors)[^.!?]{0,12}(?:pays|région|zone|territoire|localisation)',
      "(?:\\bne |\\bn'|pas)[^.!?]{0,80}(?:dans|depuis) votre (?:pays|région|zone|territoire)",
      "(?:dans|depuis) votre (?:pays|région|zone|territoire)[^.!?]{0,50}(?:n'est|ne |pas|interdit|restreint|bloqué)",
    ],
    es: [
      '(?:no (?:está |es )?(?:disponible|accesible|permitid[oa]))[^.!?]{0,30}(?:en|desde|para)[^.!?]{0,12}(?:país|región|ubicación|territorio|zona)',
      '(?:en|desde) (?:su|tu) (?:país|región|ubicación|territorio)[^.!?]{0,50}(?:no|restring|bloque)',
    ],
    pt: [
      'não (?:está |é )?(?:disponível|acessível|permitid[oa])[^.!?]{0,30}(?:no|na|em|do|para)[^.!?]{0,12}(?:país|região|localização|território|local)',
      '(?:no|do|em|na|da) (?:seu|teu|sua) (?:país|região|território|localização)[^.!?]{0,50}(?:não|restrit|bloque)',
    ],
    it: [
      'non (?:è |sono )?(?:disponibil[ei]|accessibil[ei]|consentit[oa])[^.!?]{0,30}(?:nel|nella|dal|dalla|per)[^.!?]{0,12}(?:paese|regione|zona|territorio|area)',
      '(?:nel|dal) (?:tuo|suo|vostro) paese[^.!?]{0,50}(?:non|bloccat|limitat)',
    ],
    nl: [
      'niet (?:beschikbaar|toegankelijk|toegestaan)[^.!?]{0,30}(?:in|voor|vanuit)[^.!?]{0,12}(?:land|regio|gebied|locatie)',
      '(?:in|vanuit) (?:jouw|je|uw|dit) (?:land|regio|gebied)[^.!?]{0,40}(?:niet|geblokkeerd|beperkt)',
    ],
    pl: [
      '(?:niedostępn|nie (?:jest|są) dostępn)[^.!?]{0,30}(?:w|z)[^.!?]{0,16}(?:kraju|regionie|lokalizacji)',
      '(?:w|z) (?:twoim|twojego|państwa|tym|twojej) (?:kraju|regionie|regionu|lokalizacji)[^.!?]{0,40}(?:niedostępn|nie |zablokow|ograniczon)',
    ],
    ru: [
      '(?:недоступ|не доступ|запрещ|ограничен|заблокирован)[^.!?]{0,30}(?:в|из|для|на)[^.!?]{0,12}(?:стран|регион|территори)',
      '(?:в|из) (?:вашей|вашего|вашем|твоей|этой) (?:стран|регион)[^.!?]{0,40}(?:не |недоступ|запрещ|ограничен|заблокирован)',
    ],
    tr: [
      '(?:ülkenizde|bölgenizde|ülkenizden|bulunduğunuz (?:ülke|bölge|konum)\\S*)[^.!?]{0,40}(?:kullanılam|erişilem|mevcut değil|sunulm|izlenem|engel|kısıt|görüntülenem)',
    ],
    ja: [
      '(?:お住まいの|ご利用の|お使いの|この|現在の)(?:国|地域)[^。]{0,30}(?:ご利用|利用|視聴|アクセス|表示|提供|ご覧)[^。]{0,12}(?:できません|いただけません|しておりません|していません|ません)',
      '(?:国外|海外|日本国外)から[^。]{0,20}(?:できません|いただけません)',
    ],
    zh: [
      '(?:您|你|所)?(?:所在|当前|目前)的?(?:国家|地区|國家|地區|区域|區域)[^。]{0,25}(?:不|无法|無法|未|限制|禁止|暂)',
      '(?:不|无法|無法|暂不)[^。]{0,12}(?:您|你)所在的?(?:国家|地区|國家|地區)',
    ],
    ko: [
      '(?:귀하의|해당|현재|거주|이) ?(?:국가|지역)[^.]{0,25}(?:이용할 수 없|제공되지 않|사용할 수 없|시청할 수 없|접근할 수 없|제한|차단|볼 수 없)',
    ],
    ar: [
      '(?:غير (?:متاح|متوفر|متاحة|متوفرة)|محظور|لا يتوفر|لا يمكن)[^.]{0,40}(?:بلدك|منطقتك|دولتك|موقعك)',
      '(?:في|من) (?:بلدك|منطقتك|دولتك)[^.]{0,40}(?:غير|محظور|لا |مقيد)',
    ],
    others: [
      'inte tillgänglig[^.]{0,30}(?:land|region)',
      'ikke tilgængelig[^.]{0,30}(?:land|region)',
      'ikke tilgjengelig[^.]{0,30}(?:land|region)',
      'není (?:ve vaší zemi|v)[^.]{0,30}dostupn|ve vaší zemi[^.]{0,30}(?:není|nedostupn)',
    ],
  }),
  textLetters: 300,
  isReason: true,
};
