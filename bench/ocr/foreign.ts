/** Lines in scripts other than Latin, with `#` for digits, and the Debian fonts that draw them. */
import { existsSync } from 'node:fs';
import { GlobalFonts } from '@napi-rs/canvas';

export interface Foreign {
  readonly face: string;
  readonly lines: readonly string[];
}

interface Script extends Foreign {
  readonly file: string;
  /** The Debian package with the font. */
  readonly font: string;
}

const SCRIPTS: Readonly<Record<string, Script>> = {
  Chinese: {
    file: '/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc',
    font: 'fonts-wqy-zenhei',
    face: 'KindChinese',
    lines: [
      '本公司成立于####年，现有员工###人，主要生产和销售各种家用电器。',
      '今年第三季度的销售收入为####万元，比去年同期增长百分之##。',
      '请在##日之前把申请表寄到办公室，联系电话是####-######。',
      '会议定于上午#点在三号楼的大会议室举行，请准时参加。',
      '城市的图书馆每周开放六天，读者可以免费借阅图书。',
    ],
  },
  Japanese: {
    file: '/usr/share/fonts/truetype/vlgothic/VL-Gothic-Regular.ttf',
    font: 'fonts-vlgothic',
    face: 'KindJapanese',
    lines: [
      '当社は####年に設立され、現在の従業員は###人です。',
      '今月の売上は####万円で、前年より##パーセント増えました。',
      '申込書は##日までに事務所へお送りください。',
      '図書館は毎週六日間開いていて、だれでも本を借りることができます。',
      '会議は午前#時から三階の会議室で行われます。',
    ],
  },
  Korean: {
    file: '/usr/share/fonts/truetype/nanum/NanumGothic.ttf',
    font: 'fonts-nanum',
    face: 'KindKorean',
    lines: [
      '우리 회사는 ####년에 설립되었으며 직원은 ###명입니다.',
      '이번 달 매출은 ####만 원으로 작년보다 ##퍼센트 늘었습니다.',
      '신청서는 ##일까지 사무실로 보내 주시기 바랍니다.',
      '도서관은 매주 육 일 동안 열려 있어 누구나 책을 빌릴 수 있습니다.',
      '회의는 오전 #시부터 삼층 회의실에서 열립니다.',
    ],
  },
  Cyrillic: {
    file: '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf',
    font: 'fonts-dejavu-core',
    face: 'KindSans',
    lines: [
      'Наша компания основана в #### году, в ней работают ### человек.',
      'Выручка за третий квартал составила #### тысяч рублей.',
      'Просим прислать заявление до ## числа этого месяца.',
      'Городская библиотека открыта шесть дней в неделю.',
      'Собрание начнётся в # часов утра в большом зале.',
    ],
  },
  Greek: {
    file: '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf',
    font: 'fonts-dejavu-core',
    face: 'KindSans',
    lines: [
      'Η εταιρεία μας ιδρύθηκε το #### και έχει ### εργαζόμενους.',
      'Τα έσοδα του τριμήνου ήταν #### χιλιάδες ευρώ.',
      'Στείλτε την αίτηση μέχρι τις ## του μήνα στο γραφείο.',
      'Η βιβλιοθήκη της πόλης είναι ανοιχτή έξι ημέρες την εβδομάδα.',
      'Η συνάντηση αρχίζει στις # το πρωί στη μεγάλη αίθουσα.',
    ],
  },
  Arabic: {
    file: '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf',
    font: 'fonts-dejavu-core',
    face: 'KindSans',
    lines: [
      'تأسست الشركة في مدينة كبيرة ويعمل فيها كثير من الناس.',
      'يرجى إرسال الطلب إلى المكتب قبل نهاية الشهر.',
      'تفتح المكتبة أبوابها ستة أيام في الأسبوع للجميع.',
      'يبدأ الاجتماع صباحا في القاعة الكبيرة.',
      'الكتب الجديدة موجودة في الطابق الثاني.',
    ],
  },
};

const isDrawn = ({ file, face }: Script): boolean =>
  GlobalFonts.has(face) || (existsSync(file) && GlobalFonts.registerFromPath(file, face) !== null);

/** The scripts whose fonts are installed. */
export const FOREIGN: readonly (readonly [kind: string, script: Foreign])[] = Object.entries(SCRIPTS).filter(
  ([, script]) => isDrawn(script),
);

/** The Debian packages of the fonts that are not installed. */
export const MISSING_FONTS: readonly string[] = [
  ...new Set(Object.values(SCRIPTS).flatMap((script) => (isDrawn(script) ? [] : [script.font]))),
];
