/** Navigation, related links and footers of the sites around micro-pages. */
import type { Language } from './words.ts';

export interface Furniture {
  readonly sections: readonly string[];
  readonly relatedTitle: string;
  readonly related: readonly string[];
  readonly links: readonly string[];
  readonly legal: string;
  /** Asks for a mail address. */
  readonly invitation: string;
}

export const FURNITURE: Record<Language, Furniture> = {
  en: {
    sections: ['Latest news', 'Town and county', 'Weather and tides', 'Readers write', 'Shop front', 'Subscribe today'],
    relatedTitle: 'Related stories',
    related: [
      'Why the lighthouse keeper came back',
      'Five bakeries that open at dawn',
      'Who owns the empty station',
      'What the flood left behind',
    ],
    links: ['Privacy policy', 'Terms of use', 'Cookie settings', 'Advertise with us'],
    legal: '© 2024 Fernhill Post Ltd. All rights reserved.',
    invitation: 'Get our letter every Friday in your inbox',
  },
  de: {
    sections: ['Neueste Meldungen', 'Stadt und Land', 'Wetter heute', 'Leserbriefe', 'Kleinanzeigen'],
    relatedTitle: 'Mehr zum Thema',
    related: ['Warum der Leuchtturmwärter zurückkam', 'Wem der leere Bahnhof gehört', 'Was die Flut zurückließ'],
    links: ['Datenschutz', 'Impressum', 'Cookie-Einstellungen'],
    legal: '© 2024 Fernhill Verlag GmbH. Alle Rechte vorbehalten.',
    invitation: 'Jeden Freitag unser Rundbrief in Ihrem Postfach',
  },
  fr: {
    sections: ['À la une', 'Ville et campagne', 'Météo du jour', 'Courrier des lecteurs', 'Petites annonces'],
    relatedTitle: 'À lire aussi',
    related: ['Pourquoi le gardien du phare est revenu', 'À qui appartient la gare vide', 'Ce que la crue a laissé'],
    links: ['Confidentialité', 'Mentions légales', 'Gestion des cookies'],
    legal: '© 2024 Fernhill Presse. Tous droits réservés.',
    invitation: 'Recevez notre lettre chaque vendredi',
  },
  es: {
    sections: ['Última hora', 'Ciudad y campo', 'El tiempo hoy', 'Cartas al director', 'Anuncios breves'],
    relatedTitle: 'También te puede interesar',
    related: ['Por qué volvió el farero', 'De quién es la estación vacía', 'Lo que dejó la crecida'],
    links: ['Política de privacidad', 'Aviso legal', 'Configurar cookies'],
    legal: '© 2024 Fernhill Prensa. Todos los derechos reservados.',
    invitation: 'Reciba nuestro boletín cada viernes',
  },
  ja: {
    sections: ['最新ニュース', '町の話題', '今日の天気', '読者の声', '購読のご案内'],
    relatedTitle: '関連記事',
    related: ['灯台守が戻ってきた理由', '空き駅の持ち主はだれか', '洪水が残したもの'],
    links: ['プライバシーポリシー', '利用規約', 'クッキーの設定'],
    legal: '© 2024 フェーンヒル新聞社 無断転載を禁じます',
    invitation: '毎週金曜日にメールマガジンをお届けします',
  },
  ar: {
    sections: ['آخر الأخبار', 'المدينة والريف', 'حالة الطقس', 'رسائل القراء', 'إعلانات مبوبة'],
    relatedTitle: 'مواضيع ذات صلة',
    related: ['لماذا عاد حارس المنارة', 'من يملك المحطة الخالية', 'ما تركه الفيضان'],
    links: ['سياسة الخصوصية', 'شروط الاستخدام', 'إعدادات ملفات الارتباط'],
    legal: '© 2024 فيرنهيل للصحافة جميع الحقوق محفوظة',
    invitation: 'احصل على نشرتنا البريدية كل يوم جمعة',
  },
};
