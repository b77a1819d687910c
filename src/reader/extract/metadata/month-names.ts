/** Names of months, in the languages in which dates are recognized. */

/** January to December; `|` separates forms of one month. Greek and Slavic names also have their genitive forms. */
const MONTHS = `
january|jan february|feb march|mar april|apr may june|jun july|jul august|aug september|sep|sept october|oct november|nov december|dec
januar|jänner|jan februar|feber märz|mrz|maerz april mai juni juli august september oktober|okt november dezember|dez
janvier|janv février|févr|fevrier mars avril|avr mai juin juillet|juil août|aout septembre octobre novembre décembre|déc
enero|ene febrero marzo abril|abr mayo junio julio agosto|ago septiembre|setiembre octubre noviembre diciembre|dic
gennaio|gen febbraio marzo aprile maggio|mag giugno|giu luglio|lug agosto settembre|set ottobre|ott novembre dicembre
janeiro fevereiro|fev março|marco abril maio junho julho agosto setembro outubro|out novembro dezembro
januari februari maart|mrt april mei juni juli augustus september oktober november december
januari februari mars april maj juni juli augusti september oktober november december
januar februar mars|marts april mai|maj juni juli august september oktober november desember|des
tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta
stycznia|styczeń lutego|luty marca|marzec kwietnia|kwiecień maja czerwca|czerwiec lipca|lipiec sierpnia|sierpień września|wrzesień października|październik listopada grudnia|grudzień
ledna|leden února|únor března|březen dubna|duben května|květen června|červen července|červenec srpna|srpen září října|říjen listopadu prosince|prosinec
января|январь|янв февраля|февраль|фев марта|март апреля|апрель|апр мая|май июня|июнь июля|июль августа|август|авг сентября|сентябрь|сен октября|октябрь|окт ноября|ноябрь|ноя декабря|декабрь|дек
січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня
ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
januari februari maret april mei juni juli agustus september oktober november desember
ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie
ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου αυγούστου σεπτεμβρίου οκτωβρίου νοεμβρίου δεκεμβρίου
`;

const NUMBERS = new Map<string, number>();
for (const line of MONTHS.trim().split('\n')) {
  for (const [at, forms] of line.split(' ').entries()) for (const form of forms.split('|')) NUMBERS.set(form, at + 1);
}

/** 1 to 12 for the name of a month in any case, with or without a full stop; undefined for any other word. */
export const monthOf = (name: string): number | undefined => NUMBERS.get(name.toLowerCase().replace(/\.$/, ''));
