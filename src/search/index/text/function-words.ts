/**
 * Function words (stop words) by language. They identify a language, but they match too many pages to be searched for
 * on their own.
 */

/** The words of each language, by ISO 639-1 code, with accents. */
export const FUNCTION_WORDS: Readonly<Record<string, string>> = {
  ca: 'el la els les un una de del dels al als i o que no és són amb per en a com més però aquest aquesta es se va ha han seu seva també quan què qui quin quina quins quines on quant quants',
  cs: 'a i se v na je že s z do o k za pro od po by jako ale jsou byl byla který která nebo jeho také když už tak ve ze při co kdo jaký jaká jaké kde kdy proč kolik',
  da: 'og i at det er en til på som med for de af den ikke der var fra et har om han men hun eller også blev være kan så vi sig hvad hvem hvilken hvilket hvilke hvor hvornår hvorfor hvordan',
  de: 'der die das und ist in den von zu mit auf für im nicht ein eine des dem sich als auch an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über so zum war haben nur oder aber vor zur bis was wer wen wem wann wo warum wieso welche welcher welches welchen wurde wurden',
  en: 'the of and to in a is that it for was on are as with be by at this from or an have not but which you had his they were their has will we can all your more its if when there what who how do does did would about into than so i he she my me our us them then these those been being where why also could should may might between over out up no only',
  es: 'el la de que y en un una los las del se por con no para es al lo como más pero sus le ya o este sí porque esta entre cuando muy sin sobre también me hasta hay donde fue son era ser su qué quién quiénes cuál cuáles cuándo dónde cómo cuánto cuántos cuántas',
  eu: 'eta da ez du dira bat ere izan den zen baina hau edo dute egin zuen dago batean hori baino duen beste nola',
  fi: 'ja on ei se että oli hän mutta ovat myös kun niin tai joka kuin mukaan ole jos sekä sen voi vain olla jo nyt vuonna jonka mikä mitä kuka missä milloin miksi miten kuinka montako',
  fr: 'le la les de des du un une et est en que qui dans pour pas sur au aux par avec ne se ce il elle plus son sa ses ou mais nous vous cette sont été comme leur être ont à d l n s c qu quoi quel quelle quels quelles où quand comment pourquoi combien',
  ga: 'agus an na ar is ag a i go le do bhí tá sé sí nach ní mar don ach gur seo sin bhfuil chun faoi',
  hu: 'a az és hogy nem is egy van volt de meg ez csak már még mint el ha vagy ki fel azt lehet kell minden ami amely után mi mit kit melyik hol mikor miért hogyan hány mennyi',
  it: 'il lo la i gli le di che e è un una in per non con del della da si al dei come più anche ma nel sono alla le o delle questo ha su dal degli suo se essere stato sua tra cosa chi quale quali quando dove perché quanto quanti quante',
  nl: 'de het een en van in is dat op te zijn met voor niet aan er die als bij ook om dan maar naar hij door uit over nog wordt worden werd heeft tot deze hebben kan was wat wie welke welk waar wanneer waarom hoe hoeveel',
  no: 'og i det er på som en til å for av at med ikke de den har om var et fra men vi seg kan så ble hun han eller også etter skal hvor hva hvem hvilken hvilket hvilke når hvorfor hvordan',
  pl: 'i w na z się nie do to jest że o jak po za od przez dla ale oraz są był była które który tym tego czy może przy tylko także jego co kto kim jaki jaka jakie gdzie kiedy dlaczego ile',
  pt: 'o a os as de do da dos das que e em um uma para com não por no na se é mais como mas ao foi ele ela são seu sua ou quando muito já também pelo pela até isso entre ser qual quais quem onde quanto quantos quantas',
  ro: 'și de la în a cu pe un o din pentru că nu este care mai se ce au sau sunt fost prin dar le al ale lui acest această după când cine cum unde cât câți câte câtă',
  sl: 'in je v na se da so za z s ki pa ne bi po tudi kot ali od do pri iz bil bila še ni jih kar več med ko tako',
  sv: 'och i att det som en på är av för med den till inte har de om ett var från men sig vi så kan när eller också efter där han hon vid ska under vad vem vilken vilket vilka varför hur många',
  tr: 've bir bu da de için ile çok olarak daha olan gibi en ne o var ama sonra kadar değil mi her ya ki veya olduğu ise nedir kim kimdir hangi nerede nasıl neden niçin kaç kime',
  el: 'και το να του η της με που την από για τα είναι των σε ο οι στο θα τη στην τον τους δεν τις ένα μια ότι ως τι ποιος ποια ποιο ποιοι ποιες πού πότε πώς γιατί πόσο πόσα πόσοι πόσες',
  ru: 'и в не на что с как по это он из к но у а за то все так от же для о его бы или мы было они был она до также только при если кто кого чем где когда почему какой какая какое какие каком сколько',
  uk: 'і в не на що з як по це він із до але у а за то все так від же для про його або ми було вони був вона також та є й які хто де коли чому який яка яке скільки',
  bg: 'и в не на че с как по това той от до но у а за то все така или ние беше те бил тя също се са да е ще който кой коя кое кои къде кога защо какво колко',
  ar: 'في من على إلى أن ما لا هذا هذه التي الذي عن مع كان هو هي أو ثم قد كل بعد بين لم ماذا متى أين كيف لماذا كم أي مَن هل',
  fa: 'و در به از که این را با است برای آن یک خود تا بر هم نیز شد می های',
  vi: 'và của là có các được cho trong một những với không này đã từ khi ở người như đến cũng về để bị bởi vào ra trên theo hay hoặc nhưng nào gì ai đâu bao nhiêu thế tại sao',
  hi: 'का के की है में से को और ने पर हैं था थी थे यह वह कि एक जो लिए कर इस भी तो या नहीं किया गया गई हो उस अपने साथ द्वारा क्या कौन कब कहाँ कैसे क्यों कितने कितनी किस किसने किसके',
};
