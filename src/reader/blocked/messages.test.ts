/** What pages say in place of content, in many languages, and articles with the same words. All pages are invented. */
import { describe, expect, it } from 'vitest';
import { parseDocument } from '#html/parse.ts';
import { examinePage } from './examine.ts';

const examine = (html: string) => examinePage(parseDocument(html), { url: 'https://pots.example/', status: 200 });

/** A page in the template of a site: its name, a menu, and a footer around the message. */
const pageOf = (title: string, heading: string, text: string, rest = '') =>
  `<title>${title} | Marlow</title><script src="/app.js"></script>
  <header><a href="/">Marlow</a><nav><a href="/pots">Pots</a> <a href="/jugs">Jugs</a></nav></header>
  <main><h1>${heading}</h1><p>${text}</p>${rest}</main><footer><a href="/privacy">Privacy</a> Marlow Ltd</footer>`;

const FORM = '<form><label>Name</label><input name="u"><input type="password"><button>OK</button></form>';
const BUTTONS = '<button>OK</button><button>No</button>';
const ACCEPT = '<button>Accept all</button>';

const CHALLENGE = [
  ['ボットによるアクセスではないことの確認', '下のボックスにチェックを入れてください。'],
  ['Security Verification', "We need to make sure you're a real visitor. Tick the box to continue to the page."],
  ['One more step before you proceed', 'Our automated systems flagged this visit. Please complete the puzzle below.'],
  ['Einen Augenblick bitte', 'Wir prüfen kurz, ob Sie kein Bot sind. Sie werden gleich weitergeleitet.'],
  ['Sicherheitsabfrage', 'Um automatisierte Zugriffe zu verhindern, lösen Sie bitte die folgende Aufgabe.'],
  ['Un instant…', "Nous nous assurons que vous n'êtes pas un programme automatique. Cochez la case pour continuer."],
  ['Un momento, por favor', 'Estamos comprobando que la conexión es segura. Será redirigido en unos segundos.'],
  ['Confirme que você não é um robô', 'Marque a caixa abaixo para acessar o site.'],
  ['Attendere prego', 'Stiamo controllando che tu sia una persona reale prima di farti entrare.'],
  ['Even geduld alstublieft', 'We controleren of u geen robot bent.'],
  ['Potwierdź, że jesteś człowiekiem', 'Zaznacz pole, aby przejść dalej.'],
  ['Подтвердите, что вы человек', 'Нажмите на кнопку, чтобы продолжить работу с сайтом.'],
  ['Robot olmadığınızı doğrulayın', 'Devam etmek için kutucuğu işaretleyin.'],
  ['ロボットではないことを確認してください', 'チェックボックスをクリックして続行してください。'],
  ['安全检测中', '正在检测您的浏览器环境,请稍候,完成后将自动跳转。'],
  ['로봇이 아님을 확인해 주세요', '계속하려면 아래 상자를 선택하세요.'],
  ['Ett ögonblick', 'Vi kontrollerar att du inte är en robot.'],
  ['Ověření návštěvníka', 'Potvrďte prosím, že nejste robot.'],
  ['Зачекайте', 'Ми перевіряємо ваш браузер перед доступом до сайту.'],
  ['Before we continue', 'Please press and hold the button to show us you are not a machine.'],
  ['Performing a security check', 'This page will load as soon as the check is finished. Incident 91-aa.'],
  ['Sind Sie ein Mensch?', 'Bitte klicken Sie auf alle Bilder mit Fahrrädern.'],
  ['Contrôle anti-robot', 'Recopiez le code affiché ci-dessous.'],
  ['Demuestra que eres humano', 'Selecciona todas las imágenes con semáforos.'],
  ['Dimostra di essere umano', 'Seleziona tutte le immagini con semafori.'],
  ['Só um momento', 'Estamos a verificar o seu navegador. Não precisa de fazer nada.'],
  ['アクセスの確認', '自動アクセスではないことを確認するため、下のボタンを押してください。'],
  ['请完成验证', '向右拖动滑块填充拼图'],
  ['Kérjük, várjon', 'Ellenőrizzük, hogy Ön nem robot.'],
  ['Un moment', 'Verificăm dacă conexiunea este sigură înainte de a continua.'],
  ['Vui lòng chờ', 'Chúng tôi đang kiểm tra trình duyệt của bạn.'],
  ['กรุณารอสักครู่', 'เรากำลังตรวจสอบว่าคุณไม่ใช่บอท'],
  ['רק רגע', 'אנו בודקים שאינך רובוט'],
  ['تحقق من أنك إنسان', 'يرجى إكمال اختبار الأمان للمتابعة'],
] as const;

const DENIED = [
  [
    'Your access has been restricted',
    'We noticed something odd about requests from your network and have blocked it. Contact support with reference 8812-aa.',
  ],
  ['Zugriff gesperrt', 'Ihr Zugriff wurde aus Sicherheitsgründen unterbunden. Vorfallnummer: 4471.'],
  ['Accès bloqué', 'Votre adresse IP a été bloquée par notre pare-feu. Référence : 55-AB.'],
  ['No puedes acceder a este recurso', 'Tu usuario no tiene los permisos necesarios.'],
  ['Acesso negado', 'Você não tem permissão para ver esta página.'],
  ['Accesso negato', 'Non disponi delle autorizzazioni necessarie per visualizzare questa pagina.'],
  ['Brak dostępu', 'Nie masz uprawnień do wyświetlenia tej strony.'],
  ['Доступ закрыт', 'У вас недостаточно прав для просмотра этой страницы.'],
  ['アクセスが制限されています', 'このページを閲覧する権限がありません。'],
  ['您的访问被拦截', '请求存在风险,已被防火墙拦截。请求编号:88f1'],
  ['Åtkomst nekad', 'Du saknar behörighet att visa den här sidan.'],
  ['Pääsy estetty', 'Sinulla ei ole oikeuksia tähän sivuun.'],
  ['You are not allowed here', 'This area is restricted to staff of the institute.'],
  ['Proxy detected', 'Please switch off your VPN or proxy and reload the page.'],
  ['Kein Zugriff', 'Sie haben nicht die erforderlichen Rechte für diesen Bereich.'],
  ['Accès non autorisé', "Vous n'avez pas les droits nécessaires pour consulter ce document."],
  ['Prohibido', 'No está autorizado para ver el contenido solicitado.'],
  ['Geen toegang', 'U heeft geen rechten om deze pagina te bekijken.'],
  ['접근이 제한되었습니다', '이 페이지를 볼 수 있는 권한이 없습니다.'],
  ['Tiltott', 'Nincs jogosultsága az oldal megtekintéséhez.'],
  ['Từ chối truy cập', 'Bạn không có quyền xem trang này.'],
  ['Automated access is not permitted', 'Our terms do not allow scraping. Ask us for the API.'],
  ['No tiene permiso para ver este documento', 'Las actas solo pueden consultarse desde la red interna.'],
  ['خطأ', 'عذرا، لا تملك الصلاحيات لدخول هذه الصفحة.'],
  ['Kein Zugriff', 'Dieses Dokument ist nur aus dem Hochschulnetz erreichbar. Bitte nutzen Sie das VPN.'],
] as const;

const GEO = [
  ["This video can't be played here", 'The uploader has not made this video available in your country.'],
  ['Leider nicht verfügbar', 'Dieser Inhalt darf aus lizenzrechtlichen Gründen in Ihrem Land nicht gezeigt werden.'],
  ['Contenu indisponible', "Cette vidéo n'est pas accessible depuis votre pays."],
  ['Contenido no disponible', 'Este vídeo no puede verse en tu ubicación por derechos de emisión.'],
  ['Conteúdo indisponível', 'Este conteúdo não está disponível na sua região.'],
  ['Materiał niedostępny', 'Ten materiał nie jest dostępny w Twoim kraju.'],
  ['Видео недоступно', 'К сожалению, это видео нельзя посмотреть в вашей стране.'],
  ['ご利用いただけません', 'お客様の地域ではこのサービスを提供しておりません。'],
  ['无法播放', '由于版权原因,您所在的地区暂时无法观看该视频。'],
  ["We don't deliver there yet", "It looks like you're in Iceland. We currently don't ship to your location."],
  ['Not in your region', 'Sorry, our licence only covers viewers in Ireland.'],
  [
    'Access from the European Union',
    'For legal reasons we cannot show this site to readers in the European Economic Area.',
  ],
  ['Video nicht verfügbar', 'Das Video ist nur innerhalb Deutschlands abrufbar.'],
  ['Oups', "Pour des raisons de droits, ce programme n'est pas disponible à l'étranger."],
  ['Selecciona tu país', 'Lo sentimos, no hacemos envíos a tu país.'],
  ['Materiał niedostępny', 'Ze względów licencyjnych nie możesz obejrzeć tego materiału poza Polską.'],
  ['Bu içerik ülkenizde izlenemiyor', 'Yayın hakları nedeniyle erişim sınırlıdır.'],
  ['この動画は日本国内でのみご視聴いただけます', '海外からのアクセスには対応しておりません。'],
  ['Доступ ограничен', 'Доступ к ресурсу заблокирован на основании решения суда и записи в реестре Роскомнадзора.'],
  [
    'Bu siteye erişim engellendi',
    'Bu internet sitesi hakkında 5 Mart tarihli mahkeme kararıyla erişim engeli uygulanmaktadır.',
  ],
  ['Aviso', 'El acceso a esta página ha sido bloqueado en cumplimiento de la sentencia de un juzgado.'],
  ['Avviso', 'Il sito è stato oscurato in esecuzione di un provvedimento della autorità amministrativa.'],
  ['Site blocked', 'Access to this website has been blocked by a High Court order.'],
  ['Internet Positif', 'Situs ini diblokir berdasarkan peraturan pemerintah.'],
  ['불법 사이트 차단 안내', '해당 사이트는 방송통신심의위원회의 심의를 거쳐 차단되었습니다.'],
  ['Accès bloqué', 'Ce site a été bloqué par décision du tribunal.'],
  ['Hjemmesiden er blokeret', 'Adgangen er blokeret efter en kendelse fra fogedretten.'],
  ['Website geblokkeerd', 'Deze website is geblokkeerd op bevel van de rechter.'],
] as const;

const NOT_FOUND = [
  ['Hmm, that page has wandered off', 'The page you wanted may have moved or been deleted. Try the search.'],
  ['This listing is gone', 'The property you are looking for has been sold or withdrawn.'],
  ['Artikel nicht mehr verfügbar', 'Das gewünschte Produkt ist leider ausverkauft und nicht mehr im Sortiment.'],
  ['Seite wurde nicht gefunden', 'Der Link ist vermutlich veraltet. Zurück zur Startseite.'],
  ['Page non trouvée', "Désolé, la page demandée est introuvable. Retour à l'accueil."],
  ['¡Vaya! No encontramos lo que buscas', 'Es posible que la página haya cambiado de dirección.'],
  ['Ops! Página não encontrada', 'O link que você acessou pode estar quebrado.'],
  ['Ops, pagina non trovata', "Il contenuto che cerchi non c'è più."],
  ['Oeps, deze pagina bestaat niet', 'Misschien is de link verouderd. Ga terug naar de homepage.'],
  ['Ups! Nie ma takiej strony', 'Sprawdź adres lub wróć na stronę główną.'],
  ['Такой страницы нет', 'Возможно, она была удалена или перенесена. Вернитесь на главную.'],
  ['Sayfa bulunamadı', 'Aradığınız sayfa kaldırılmış olabilir.'],
  ['お探しのページは見つかりませんでした', 'URLが変更されたか、削除された可能性があります。'],
  ['抱歉,您访问的页面不存在', '可能已被删除或移动,返回首页'],
  ['페이지를 찾을 수 없습니다', '주소가 정확한지 확인해 주세요.'],
  ['Siden blev ikke fundet', 'Linket kan være forældet.'],
  ['Voi ei! Sivua ei löytynyt', 'Se on ehkä poistettu tai siirretty.'],
  ['Stránka nenalezena', 'Omlouváme se, ale hledaná stránka neexistuje.'],
  ['A keresett oldal nem található', 'Ellenőrizze a címet, vagy térjen vissza a főoldalra.'],
  ['Nothing to see here', "We couldn't find the page you asked for."],
  ['Position closed', 'This job is no longer accepting applications. See similar jobs.'],
  ['Information', 'The requested topic does not exist.'],
  ['Información', 'El tema solicitado no existe.'],
  ['Information', 'Das gewählte Thema existiert nicht.'],
  ['Информация', 'Запрошенной темы не существует.'],
  ['Aïe !', "Cette page a disparu ou n'a jamais existé. Retournez à l'accueil."],
  ['Imóvel indisponível', 'Este anúncio foi removido ou expirou. Veja imóveis semelhantes.'],
  ['Annuncio non più disponibile', "L'annuncio che cerchi è scaduto o è stato rimosso."],
  ['Vacature gesloten', 'Deze vacature is niet meer beschikbaar.'],
  ['Ogłoszenie nieaktualne', 'To ogłoszenie zostało zakończone lub usunięte.'],
  ['Annonsen är borttagen', 'Annonsen du söker finns inte längre.'],
  ['商品が見つかりません', 'この商品は販売を終了しました。'],
  ['商品已下架', '您查看的商品已下架,看看其他商品吧'],
  ["This video isn't available anymore", 'The account was closed.'],
  ['User not found', 'The profile may have been renamed or deleted.'],
  ['Η σελίδα δεν βρέθηκε', 'Η σελίδα που ζητήσατε δεν υπάρχει.'],
  ['הדף לא נמצא', 'מצטערים, העמוד שחיפשת אינו קיים'],
  ['알림', '판매가 종료되었거나 존재하지 않는 상품입니다.'],
  ['Hinweis', 'Dieses Produkt ist leider nicht mehr im Sortiment.'],
  ['Information', "Ce produit n'est plus commercialisé. Découvrez nos autres pots."],
  ['Aviso', 'Este producto está descatalogado. Mira nuestra selección.'],
] as const;

const PARKED = [
  ['coolname.test', 'This premium domain may be for sale. Click here to inquire.'],
  [
    'name.test ist geparkt',
    'Diese Domain wurde bei einem Registrar registriert. Es wurde noch keine Website hinterlegt.',
  ],
  ['Ce nom de domaine est à vendre', 'Faites une offre dès maintenant.'],
  ['Este dominio está aparcado', 'El titular todavía no ha publicado una web.'],
  ['Домен припаркован', 'Этот домен зарегистрирован и может быть выставлен на продажу.'],
  ['This domain registration has expired', 'If you are the owner, renew it with your registrar.'],
  ['best.test is available', 'Get this name before somebody else does. Buy now for $2,400 or make an offer.'],
  ['Hier entsteht in Kürze eine neue Internetpräsenz', 'Diese Domain wurde soeben registriert.'],
  ['Dominio registrato', 'Questo dominio è stato registrato da un cliente e non è ancora associato a un sito.'],
  ['Deze domeinnaam is geregistreerd', 'De houder heeft nog geen website.'],
  ['このドメインは取得済みです', 'お名前サービスで管理されています。'],
  ['Domain suspended', 'The registration period of this domain ended on 1 March.'],
  ['pots-jugs', 'Ce nom de domaine est à vendre. Faites-nous une offre.'],
  ['pots2', '您正在访问的域名可以转让!'],
  ['pots.example', 'Домен зарегистрирован и припаркован. Сайт пока не размещён.'],
] as const;

const SERVER_DEFAULT = [
  [
    'Votre hébergement est actif',
    'Votre hébergement web est désormais configuré. Déposez vos fichiers dans le dossier www.',
  ],
  [
    'Success! Your new web server is ready to use.',
    "You're seeing this page because the site has not been set up yet.",
  ],
  ['This account has been suspended', 'Contact your hosting provider for more information.'],
  ['Hosting ist gesperrt', 'Diese Webseite wurde vom Hoster deaktiviert.'],
  ['It works!', 'This is the default page of the web server. No content has been added yet.'],
  ['Herzlichen Glückwunsch', 'Ihr Webspace wurde eingerichtet. Laden Sie jetzt Ihre Dateien per FTP hoch.'],
  ['This store is unavailable', 'If you are the owner, sign in to reopen it.'],
  ['Webhosting je připraven', 'Na této adrese zatím nejsou žádné stránky. Nahrajte prosím svůj web.'],
  ['このサーバーにはまだファイルがアップロードされていません。', '初期ページを上書きするか削除してください。'],
  ['Serwer został utworzony', 'Strona nie została jeszcze opublikowana. Wgraj pliki przez FTP.'],
] as const;

const SERVER_ERROR = [
  ['Oops, something broke on our side', 'Our team has been notified. Try again in a few minutes.'],
  ['Unerwarteter Fehler', 'Ihre Anfrage konnte nicht verarbeitet werden. Fehlercode 7712.'],
  ['Une erreur technique est survenue', 'Veuillez réessayer plus tard.'],
  ['Ha ocurrido un error inesperado', 'Inténtalo de nuevo en unos minutos.'],
  ['Произошла ошибка на сервере', 'Мы уже работаем над её устранением. Попробуйте позже.'],
  ['システムエラーが発生しました', 'しばらくしてから再度お試しください。'],
  ['系统繁忙', '请稍后再试'],
  ['Något gick fel', 'Försök igen om en stund.'],
  ['We hit a snag', 'Our engineers are looking into the problem. Please try again later.'],
  ['Er is iets misgegaan', 'Probeer het later opnieuw.'],
  ['Coś poszło nie tak', 'Spróbuj ponownie za chwilę.'],
  ['Bir hata oluştu', 'Lütfen daha sonra tekrar deneyin.'],
  ['Ocorreu um erro', 'Não foi possível carregar a página. Tente novamente.'],
  ['Jotain meni pieleen', 'Yritä myöhemmin uudelleen.'],
] as const;

const MAINTENANCE = [
  ["We'll be right back", "We're giving our site a tune-up. Check back soon."],
  ['Wir sind gleich wieder da', 'Unser Shop wird gerade aktualisiert.'],
  ['Site en maintenance', 'Nous améliorons notre site. De retour très vite !'],
  ['Estamos de mantenimiento', 'Volvemos enseguida.'],
  ['Voltamos já', 'Estamos a melhorar a nossa loja.'],
  ['Torniamo subito', 'Il sito è in fase di aggiornamento.'],
  ['Przerwa techniczna', 'Pracujemy nad ulepszeniem serwisu. Wrócimy wkrótce.'],
  ['Технические работы', 'Сайт временно недоступен. Приносим извинения.'],
  ['Sitemiz bakımda', 'Kısa süre sonra tekrar hizmetinizdeyiz.'],
  ['ただいまメンテナンス中です', 'ご不便をおかけして申し訳ございません。'],
  ['系统维护中', '我们正在升级系统,请稍后访问'],
  ['시스템 점검 중입니다', '더 나은 서비스를 위해 점검을 진행하고 있습니다.'],
  ['You are now in line', 'Due to high demand you have been placed in a queue. Do not refresh the page.'],
  ['Something wonderful is brewing', 'Our brand-new website launches this autumn. Leave your email to hear first.'],
  ['Closed for updates', 'Our online store is closed while we change the collection. See you Monday!'],
  ['Unsere neue Website ist bald da', 'Wir arbeiten mit Hochdruck daran.'],
  ['Notre nouveau site arrive bientôt', 'Laissez-nous votre adresse e-mail.'],
  ['Página en construcción', 'Pronto estaremos con ustedes.'],
  ['Stiamo lavorando per voi', 'Il nuovo sito sarà online a breve.'],
  ['Probíhá údržba', 'Omlouváme se, brzy budeme zpět.'],
  ['Vi oppdaterer nettsiden', 'Vi er snart tilbake.'],
  ['Sivusto on huollossa', 'Palaamme pian.'],
  ['Välkommen', 'Vår nya webbplats öppnar inom kort.'],
  ['Snart', 'Vores webshop åbner snart. Vi glæder os til at se dig.'],
  ['Bientôt', 'Notre boutique ouvrira prochainement ses portes. À bientôt.'],
] as const;

const RATE_LIMIT = [
  ['Easy there!', "You're making requests faster than we allow. Wait a minute and reload."],
  ['Zu viele Anfragen', 'Bitte warten Sie einen Moment, bevor Sie es erneut versuchen.'],
  ['Trop de requêtes', 'Vous avez effectué trop de recherches. Réessayez dans une minute.'],
  ['Demasiadas solicitudes', 'Has superado el número de consultas permitido. Espera unos minutos.'],
  ['Слишком много запросов', 'С вашего IP поступает слишком много запросов. Подождите.'],
  ['アクセスが集中しています', '短時間に多くのリクエストを受け付けました。しばらくお待ちください。'],
  ['操作过于频繁', '您的访问过于频繁,请稍后再试。'],
  ["You're doing that too much", 'Try again in 9 minutes.'],
  ['Download quota exceeded', 'You have used your downloads for today. Come back tomorrow.'],
  ['Te veel verzoeken', 'Wacht even en probeer het opnieuw.'],
  ['Zbyt wiele zapytań', 'Odczekaj chwilę i odśwież stronę.'],
  ['Çok fazla istek gönderdiniz', 'Lütfen biraz bekleyin.'],
  ['요청이 너무 많습니다', '잠시 후 다시 시도해 주세요.'],
  ['Information', 'Sorry, you cannot use the search at this time. Please try again in 9 seconds.'],
] as const;

const PAYWALL = [
  ['Glazes of the north', 'Get access to the full text of this chapter.'],
  [
    'The quiet river',
    'It began with a leak. The rest of this story is available to subscribers only. Subscribe from $4 a month. Already have an account? Sign in.',
  ],
  [
    'Der stille Fluss',
    'Es begann mit einem Leck. Diesen Artikel können Sie mit einem Abo lesen. Jetzt Probemonat starten.',
  ],
  [
    'La rivière',
    'Tout a commencé par une fuite. Cet article est réservé aux abonnés. Abonnez-vous pour lire la suite.',
  ],
  [
    'El río',
    'Todo empezó con una fuga. Este contenido es exclusivo para suscriptores. Suscríbete para seguir leyendo.',
  ],
  ['O rio', 'Tudo começou com um vazamento. Conteúdo exclusivo para assinantes. Assine para continuar lendo.'],
  [
    'Il fiume',
    'Tutto è cominciato con una perdita. Contenuto riservato agli abbonati. Abbonati per continuare a leggere.',
  ],
  ['Rzeka', 'Zaczęło się od wycieku. Dalsza część artykułu dostępna tylko dla subskrybentów. Wykup dostęp.'],
  ['Река', 'Всё началось с утечки. Полный текст доступен только подписчикам. Оформите подписку, чтобы читать дальше.'],
  ['静かな川', 'それは一つの漏水から始まった。続きを読むには会員登録が必要です。'],
  ['Joki', 'Kaikki alkoi vuodosta. Tämä artikkeli on vain tilaajille. Tilaa ja jatka lukemista.'],
  ['Tram talks stall', "Talks ended at midnight. You've read your last free article. Subscribe now to keep reading."],
  ['Tram', 'Talks ended at midnight. This is a premium article. Become a member for full access.'],
  [
    'Straßenbahn',
    'Die Gespräche endeten um Mitternacht. Weiterlesen mit Plus: 30 Tage gratis testen. Sie sind schon Abonnent? Anmelden',
  ],
  ['Tram', "Les négociations ont échoué. Il vous reste 80 % de l'article à découvrir. Déjà abonné ? Connectez-vous"],
  ['Tranvía', 'Las conversaciones acabaron. Hazte suscriptor para leer el artículo completo. Ya soy suscriptor'],
  ['Trikken', 'Samtalene brøt sammen. Denne saken er kun for abonnenter. Bli abonnent for 1 krone.'],
  ['路面電車', '交渉は決裂した。ここから先は有料会員限定です。残り850文字'],
  ['电车谈判破裂', '谈判于午夜结束。以下内容为付费内容,订阅后可阅读全文。'],
  ['전차 협상', '협상은 자정에 끝났다. 이 기사는 유료 구독자만 읽을 수 있습니다.'],
  ['Havnen vokser', 'Byrådet har sagt ja. Denne artikel er for abonnenter. Få adgang til alt indhold for 9 kr.'],
  ['Satama kasvaa', 'Tämä juttu on vain tilaajille. Oletko jo tilaaja?'],
  ['Przystań rośnie', 'Dalsza część artykułu dostępna po wykupieniu prenumeraty.'],
] as const;

const LOGIN = [
  ['You need an account', 'Please log in or register to view this topic.'],
  ['Información', 'Debes estar registrado para ver este contenido.'],
  ['Hinweis', 'Du musst dich anmelden, um diese Seite zu sehen.'],
  ['Connectez-vous', 'Identifiez-vous pour accéder à votre espace.'],
  ['Zaloguj się', 'Aby zobaczyć tę treść, zaloguj się na swoje konto.'],
  ['Войдите в аккаунт', 'Для просмотра темы необходимо авторизоваться.'],
  ['ログインしてください', 'このページをご覧いただくにはログインが必要です。'],
  ['请先登录', '登录后即可查看完整内容'],
  ['Logga in', 'Du måste vara inloggad för att se den här sidan.'],
  ['This site is marked private by its owner', 'If you were invited, log in with your account to see it.'],
  ['Your session has expired', 'Please sign in again to continue where you left off.'],
  ['Registered users only', 'You have to sign in before you can read this thread.'],
  ['Login required', 'Sorry, you have to be a member of this space to see the page.'],
  ['Anmeldung', 'Bitte geben Sie Ihre Kennung und Ihr Passwort ein.'],
  ["Vous n'êtes pas connecté", 'Cette section est réservée aux membres inscrits.'],
  ['Área privada', 'Introduce tu usuario y contraseña.'],
  ['Você não está logado', 'Para ver este tópico, faça login ou cadastre-se.'],
  ['Area riservata ai soci', 'Accedi con le tue credenziali.'],
  ['Je bent niet ingelogd', 'Log in of registreer om dit onderwerp te lezen.'],
  ['Информация', 'Вы не вошли на сайт. Зарегистрируйтесь или войдите, чтобы видеть тему.'],
  ['Üye girişi', 'Konuyu görmek için giriş yapmalısınız.'],
  ['로그인이 필요한 서비스입니다', '로그인 후 이용해 주세요.'],
  ['Přihlášení', 'Pro zobrazení stránky se přihlaste.'],
  ['This document is protected', 'Enter the password to view it.'],
  ['Kirjaudu palveluun', 'Tunnistaudu pankkitunnuksilla jatkaaksesi.'],
  ['Logga in', 'Logga in med BankID för att se dokumentet.'],
  ['Log på', 'Log på med MitID for at fortsætte.'],
] as const;

const AGE = [
  ['Are you of legal drinking age?', 'You must be of legal drinking age in your country to enter this site.'],
  ['Bist du schon 18?', 'Diese Seite ist nur für Erwachsene.'],
  ['Avez-vous plus de 18 ans ?', "L'accès à ce site est réservé aux personnes majeures."],
  ['¿Eres mayor de edad?', 'Debes tener la edad legal para consumir alcohol para entrar.'],
  ['Czy masz ukończone 18 lat?', 'Strona zawiera treści przeznaczone dla osób pełnoletnich.'],
  ['Har du fyllt 20 år?', 'Du måste ha åldern inne för att besöka sidan.'],
  ['Welcome', 'Please enter your date of birth to continue.'],
  ['This website contains adult material', 'By entering you confirm that you are at least 18 years old.'],
  ['Sei maggiorenne?', "Per entrare devi avere l'età legale per il consumo di alcolici."],
  ['Bent u 18 jaar of ouder?', 'Geen 18, geen alcohol.'],
  ['Вам уже есть 18 лет?', 'Сайт содержит материалы для взрослых.'],
  ['あなたは20歳以上ですか?', 'お酒に関する情報を含みます。'],
  ['您已年满18岁吗?', '本网站含有成人内容。'],
  ["Avez-vous l'âge légal ?", "Vous devez avoir l'âge légal pour consommer de l'alcool dans votre pays."],
  ['Tem idade legal para beber?', 'É proibida a venda de álcool a menores de 18 anos.'],
  ['성인 인증', '이 내용은 청소년유해매체물로서 19세 미만의 청소년이 이용할 수 없습니다.'],
  ['Yasal içki yaşında mısınız?', 'Lütfen 18 yaşından büyük olduğunuzu onaylayın.'],
] as const;

const CONSENT = [
  ['Your choice', 'Accept advertising cookies to read for free, or subscribe without tracking for 3 euros a month.'],
  [
    'Lesen Sie weiter mit Werbung',
    'Stimmen Sie der Nutzung von Cookies durch uns und unsere Partner zu oder schließen Sie ein werbefreies Abo ab.',
  ],
  [
    'Cookies accepteren',
    'Om verder te gaan moet je cookies accepteren. Wij en onze partners gebruiken cookies voor advertenties.',
  ],
  [
    'Dbamy o Twoją prywatność',
    'My i nasi partnerzy używamy plików cookie i podobnych technologii w celu wyświetlania reklam.',
  ],
  ['Before you continue', 'We use cookies and data to deliver our services. Choose Accept all or Reject all.'],
  [
    'Ihre Privatsphäre',
    'Wir und unsere 214 Partner speichern Informationen auf Ihrem Gerät. Mit Klick auf Zustimmen willigen Sie ein.',
  ],
  [
    'Nous respectons votre vie privée',
    'Avec votre accord, nos partenaires et nous utilisons des cookies pour stocker des informations personnelles.',
  ],
  ['Seguir navegando con publicidad', 'Acepta las cookies o suscríbete para navegar sin publicidad.'],
] as const;

describe('pages in place of content', () => {
  const title = 'Notes';
  it.each(CHALLENGE)('challenge: %s', (heading, text) => {
    expect(examine(pageOf(title, heading, text))?.kind).toBe('challenge');
  });
  it.each(DENIED)('denied: %s', (heading, text) => {
    expect(examine(pageOf(title, heading, text))?.kind).toBe('denied');
  });
  it.each(GEO)('geo: %s', (heading, text) => {
    expect(examine(pageOf(title, heading, text))?.kind).toBe('geo');
  });
  it.each(NOT_FOUND)('not-found: %s', (heading, text) => {
    expect(examine(pageOf(title, heading, text))?.kind).toBe('not-found');
  });
  it.each(PARKED)('parked: %s', (heading, text) => {
    expect(examine(pageOf(title, heading, text))?.kind).toBe('parked');
  });
  it.each(SERVER_DEFAULT)('server-default: %s', (heading, text) => {
    expect(examine(pageOf(title, heading, text))?.kind).toBe('server-default');
  });
  it.each(SERVER_ERROR)('server-error: %s', (heading, text) => {
    expect(examine(pageOf(title, heading, text))?.kind).toBe('server-error');
  });
  it.each(MAINTENANCE)('maintenance: %s', (heading, text) => {
    expect(examine(pageOf(title, heading, text))?.kind).toBe('maintenance');
  });
  it.each(RATE_LIMIT)('rate-limit: %s', (heading, text) => {
    expect(examine(pageOf(title, heading, text))?.kind).toBe('rate-limit');
  });
  it.each(PAYWALL)('paywall: %s', (heading, text) => {
    expect(examine(pageOf(title, heading, text))?.kind).toBe('paywall');
  });
  it.each(LOGIN)('login: %s', (heading, text) => {
    expect(examine(pageOf(title, heading, text, FORM))?.kind).toBe('login');
  });
  it.each(AGE)('age: %s', (heading, text) => {
    expect(examine(pageOf(title, heading, text, BUTTONS))?.kind).toBe('age');
  });
  it.each(CONSENT)('consent: %s', (heading, text) => {
    expect(examine(pageOf(title, heading, text, ACCEPT))?.kind).toBe('consent');
  });
});

const CONTENT = [
  [
    'Understanding HTTP 403',
    'Understanding HTTP 403',
    'The 403 status code is sent when a server understands a request but will not fulfil it. You may see "Access denied" or "Forbidden". Check file permissions, then the rewrite rules.',
  ],
  [
    'Was tun bei "Zugriff verweigert"?',
    'Was tun bei „Zugriff verweigert“?',
    'Windows zeigt diese Meldung, wenn der Benutzer keine Rechte an der Datei hat. Öffnen Sie die Eigenschaften und prüfen Sie den Besitzer.',
  ],
  [
    'Glossary: Captcha',
    'Captcha',
    'A captcha asks visitors to prove they are human. The first ones showed bent letters; later ones ask you to select pictures of traffic lights.',
  ],
  [
    'Rate limiting - API docs',
    'Rate limiting',
    'You can make 100 requests per minute. If you exceed the limit you get 429 Too Many Requests and a Retry-After header.',
  ],
  [
    'Page Not Found, a novel',
    'Page Not Found',
    "A librarian discovers that one leaf is missing from every copy of a book. Maria Holt's second novel is a quiet thriller about memory.",
  ],
  [
    'Maintenance window on Sunday',
    'Maintenance window on Sunday',
    'The billing system will be unavailable from 02:00 to 05:00 UTC on Sunday, 9 March. Invoices sent before then are not affected.',
  ],
  [
    'Road maintenance on Hill Street',
    'Road maintenance on Hill Street',
    'The street is closed for maintenance until Friday. Buses use Mill Lane.',
  ],
  [
    'Onderhoud van uw fiets',
    'Onderhoud van uw fiets',
    'Een schone ketting gaat langer mee. Smeer hem elke maand en controleer de remmen.',
  ],
  [
    'Manutenção do jardim',
    'Manutenção do jardim',
    'Em março podamos as roseiras e adubamos o gramado. Nosso jardineiro atende toda a cidade.',
  ],
  [
    'How to buy an expired domain',
    'How to buy an expired domain',
    'A domain that has expired is kept for thirty days. After that, anyone can register it.',
  ],
  [
    'Shipping',
    'Shipping',
    'We ship to the EU, Norway and Switzerland. We do not ship to Russia or Belarus. Orders leave our warehouse within two days.',
  ],
  [
    'FAQ',
    'Why do I have to log in?',
    'Because your orders are private. You can reset your password on the account page.',
  ],
  ['Cookie Policy', 'Cookie Policy', 'We use cookies to remember your basket. You can delete them in your browser.'],
  [
    'Wine tasting 18+',
    'Wine tasting evening',
    'Join us on Friday at eight. You must be over 18 to attend. Tickets cost 25 pounds at the door.',
  ],
  [
    'Release 3.2',
    'Release 3.2',
    'Fixed: the login page no longer shows "Session expired" twice. Added: rate limit headers. Removed: the old captcha.',
  ],
  ['Status', 'All systems operational', 'Past incident: between 09:00 and 10:00 requests failed with 502 Bad Gateway.'],
  [
    'Der Fehler 404',
    'Der Fehler 404',
    'Der Name stammt angeblich von einem Büro am CERN. Die Geschichte ist erfunden, aber sie wird gern erzählt.',
  ],
  [
    'Paywalls in Skandinavien',
    'Paywalls in Skandinavien',
    'Acht von zehn Zeitungen verlangen Geld. „Dieser Artikel ist nur für Abonnenten“ steht dort täglich auf der Startseite.',
  ],
  [
    'Opening soon: new branch in Leeds',
    'Opening soon: new branch in Leeds',
    'Our fourth bakery opens on 2 May at 14 Briggate. Come for free buns on the first day.',
  ],
  [
    '¿Qué significa «acceso denegado»?',
    '¿Qué significa «acceso denegado»?',
    'El mensaje aparece cuando tu usuario no tiene permisos. Pide al administrador que revise la carpeta.',
  ],
  [
    'Ошибка 502 Bad Gateway',
    'Ошибка 502: как исправить',
    'Ошибка возникает, когда прокси не получил ответ. Проверьте, запущен ли php-fpm, и перезапустите nginx.',
  ],
  [
    '403エラーの原因',
    '403エラーの原因と対処法',
    'アクセスが拒否されましたと表示される場合、まず権限を確認してください。次に.htaccessを見直します。',
  ],
  [
    'Members meeting',
    'Members only meeting',
    'The annual meeting is for members only. It begins at seven in the parish hall.',
  ],
  ['Lost and found', 'Lost and found', 'We could not find the owner of a green umbrella. Ask at the desk.'],
  ['Sorry', 'Sorry', 'A song by Ada Finch. I am sorry, so sorry, for the rain.'],
  ['Password managers', 'Password managers', 'Please do not reuse your password. A manager remembers it for you.'],
  ['Site notice', 'Notice', 'The library is closed on Monday. Books can be returned at the box.'],
  [
    'The application is not responding',
    'The application is not responding: what to do',
    'Wait a minute, then end the task. If an error occurs again, reinstall the program.',
  ],
  [
    'Access denied (film)',
    'Access Denied',
    'Access Denied is a 2019 documentary about locked archives in three countries. It won two awards.',
  ],
  [
    'Just a moment',
    'Just a Moment',
    'Just a Moment is a BBC-style radio quiz in which guests speak for sixty seconds. It began in 1967.',
  ],
  [
    'Robot or human?',
    'Robot or human?',
    'The exhibition asks what makes us different from machines. Until 4 May, free entry.',
  ],
  [
    'Service Unavailable',
    'Service Unavailable',
    'The trio from Hull play noisy pop. Their new single is out on Friday on all platforms.',
  ],
  [
    'Coming soon',
    'Coming soon to the Rex',
    'The Long Summer, from 12 June. Night Bus, from 19 June. Tickets at the box office.',
  ],
  [
    'Störung Linie 4',
    'Störung Linie 4',
    'Wegen einer Weichenstörung fahren die Bahnen bis 14 Uhr nur bis Rathaus. Wir bitten um Entschuldigung.',
  ],
  [
    'Wartungsarbeiten am Sonntag',
    'Wartungsarbeiten am Sonntag',
    'Am 9. März wird das Buchungssystem von 2 bis 6 Uhr gewartet. Tickets am Automaten sind weiter erhältlich.',
  ],
  [
    'Error codes - Docs',
    'Error codes',
    '401: the token is missing. 403: the token may not read this project. 404: no such project. 429: too many requests, retry later.',
  ],
  [
    'Why we block some bots',
    'Why we block some bots',
    'Last month half of our traffic came from crawlers. We now ask them to identify themselves. You will not notice anything.',
  ],
  [
    'Troubleshooting login',
    'Troubleshooting login',
    'If you see "Your session has expired", clear your cookies and sign in again.',
  ],
  ['Hours', 'Opening hours', 'We are open from nine to five. We are closed on Sundays and public holidays.'],
  ['Moving house', 'We are moving', 'From 1 June you will find us at 12 Dock Road. Our phone number stays the same.'],
  [
    'Thanks',
    'Thank you for your order',
    'We will send you a confirmation by e-mail. You can track the parcel in your account.',
  ],
  ['Unsubscribed', 'You have been unsubscribed', 'We are sorry to see you go. You will get no more e-mails from us.'],
  ['Newsletter', 'Almost done', 'Please check your inbox and confirm your address by clicking the link.'],
  ['Search', 'No results for zebra', 'Try another word, or browse the categories.'],
  ['Cart', 'Your basket is empty', 'Continue shopping and come back when you have found something you like.'],
  [
    'Kontakt',
    'Kontakt',
    'Schreiben Sie uns eine E-Mail oder rufen Sie uns an. Wir antworten innerhalb von zwei Tagen.',
  ],
  ['Datenschutz', 'Datenschutz', 'Wir verwenden keine Cookies und speichern keine IP-Adressen.'],
  [
    'Job: Sicherheitsdienst',
    'Sicherheitsdienst gesucht',
    'Wir suchen Personal für die Zugangskontrolle. Sie sind volljährig und haben keine Vorstrafen.',
  ],
  [
    'Accès au parc',
    'Accès au parc',
    "L'accès est interdit aux chiens. Le parc ferme à 20 heures. Merci de respecter les lieux.",
  ],
  [
    'Acceso al castillo',
    'Acceso al castillo',
    'El acceso está prohibido por obras hasta el 3 de mayo. Disculpen las molestias.',
  ],
  [
    'Club rules',
    'Club rules',
    'You must be over 18 to join. Members only may use the pool. Please shower before you swim.',
  ],
  ['Casting', 'Casting call', 'We are looking for actors aged 18 to 25. You must be at least 18. Send us a photo.'],
  [
    'Ticket sale',
    'Tickets',
    'Sorry, this concert is sold out. Tickets for the second night are available from Friday.',
  ],
  [
    'Product',
    'Blue mug',
    "Currently unavailable. We don't know when or if this item will be back in stock. Glazed stoneware, 300 ml.",
  ],
  ['Film', 'The Gateway', 'The Gateway is not available in cinemas until May. Watch the trailer below.'],
  ['Recall', 'Product recall', 'If you bought a kettle between May and July, please stop using it and contact us.'],
  [
    'Domain names 101',
    'What is a domain name?',
    'A domain name is the address of a site. You can buy one from a registrar for about ten pounds a year.',
  ],
  ['Changelog', 'Changelog', '1.4: maintenance mode can be switched on from the menu. 1.3: nicer 404 page.'],
  [
    'Server room tour',
    'Our server room',
    'We run nginx on two machines under the stairs. If you can see this page, they work.',
  ],
  [
    'Weather warning',
    'Warning',
    'Strong winds are expected. Please stay away from the shore and secure loose objects.',
  ],
  ['Vote', 'You have already voted', 'Thank you for taking part. The results will be published on Friday.'],
  ['Quote of the day', 'Quote of the day', '"The page you are looking for is inside you." Anonymous'],
  [
    'Strike',
    'Bus strike on Monday',
    'There will be no buses on Monday. We apologise for the inconvenience. Trains run as usual.',
  ],
  [
    'お知らせ',
    '年末年始の営業について',
    '12月29日から1月3日まで休業いたします。ご不便をおかけして申し訳ございません。',
  ],
  ['通知', '图书馆闭馆通知', '3月9日闭馆一天,请读者提前安排。'],
  [
    'Уведомление',
    'Отключение воды',
    '9 марта с 10 до 16 часов вода будет отключена. Приносим извинения за неудобства.',
  ],
  [
    'Ogłoszenie',
    'Przerwa w dostawie prądu',
    '9 marca od 8 do 12 nie będzie prądu na ulicy Młyńskiej. Przepraszamy za utrudnienia.',
  ],
  [
    'Court blocks a market',
    'Court blocks a market',
    'Traders in Hull lost their case on Friday. The stalls close in May, and forty people look for another place.',
  ],
  [
    'Robots',
    'Telling people from robots',
    'The test was first described in 1950. It compares answers that people and machines type on a keyboard.',
  ],
  [
    'Bank identification',
    'Bank identification',
    'Half of the country logs in with its bank. The scheme began in 2003 and is run by nine banks.',
  ],
  [
    'Riesling 2021',
    'Riesling 2021',
    'Trocken, 12 % Alkohol. Verkauf nur an Personen ab 18 Jahren. Passt zu Fisch und hellem Fleisch.',
  ],
  [
    'Domain names',
    'A short history of domain names',
    'The first name was registered in 1985. Prices rose when short names became rare, and some were sold for millions.',
  ],
] as const;

describe('content', () => {
  it.each(CONTENT)('%s: %s', (title, heading, text) => {
    expect(examine(pageOf(title, heading, text))).toBeUndefined();
  });

  it('that quotes a message in code, a quotation or preformatted text', () => {
    const text = 'The gate answers with a short page. Log files name the rule, and the owner can lift it.';
    for (const quote of ['code', 'blockquote', 'pre', 'q']) {
      const html = pageOf('The gate', 'The gate', text, `<${quote}>Access denied. You have been blocked.</${quote}>`);
      expect(examine(html)).toBeUndefined();
    }
  });
});

it.each([
  ['a dictionary', '<h2>Etymology</h2><p>From French.</p><h2>Noun</h2>'],
  ['an encyclopedia', '<h2>Aussprache</h2><p>Wie im Englischen.</p>'],
  ['a reference', '<h2>Examples</h2><p>You are locked out.</p><h2>See also</h2><p>Closed</p>'],
])('an entry of %s is content', (_, sections) => {
  expect(examine(pageOf('access denied', 'access denied', 'You have been blocked.', sections))).toBeUndefined();
});

it('a letter about data that is agreed to by a click is a consent wall', () => {
  const text = `Od 25 maja obowiązuje RODO. Administratorem danych jest wydawca. ${'Zgodę możesz wycofać w każdej chwili. '.repeat(12)}
    Klikając dalej, wyrażasz zgodę na przetwarzanie danych w plikach cookie.`;
  const html = `<title>Twoja prywatność</title><h3>Drogi Czytelniku,</h3><p>${text}</p><a href="?ok">Dalej</a>`;
  expect(examine(html)?.kind).toBe('consent');
  expect(examine(html.replace('Klikając dalej, wyrażasz', 'Cookie: masz'))).toBeUndefined();
});

it('a question of a forum tells people from robots', () => {
  const text =
    'Our server is slow this month. The question helps us to tell people from robots. It is asked once a month.';
  const field = '<form><label>How many legs has a cat?</label><input name="a"><button>Enter</button></form>';
  expect(examine(`<title>Check</title><h2>Just one question</h2><p>${text}</p>${field}`)?.kind).toBe('challenge');
  expect(examine(pageOf('Write to us', 'Write to the pottery', text, field))).toBeUndefined();
});

it('a question for the age over a shop is beside its content', () => {
  const wines = ['Silvaner', 'Riesling', 'Scheurebe', 'Kerner'].map((wine) => `<h3>${wine}</h3><p>Dry, 12 euros.</p>`);
  const html = `<h2>Are you over 18?</h2><p>You must be over 18 to buy wine.</p>${BUTTONS}<h1>White wines</h1>${wines.join('')}`;
  expect(
    examine(
      `<title>White wines</title>${html}<p>${'From the steep slopes of grey slate above the river. '.repeat(6)}</p>`,
    ),
  ).toBeUndefined();
});

it('verses are content', () => {
  const lines = [
    'You knocked upon the door of night',
    'and nobody was home, they said',
    'please try again with better light',
    'we are closed, come back instead',
  ];
  const verse = (text: string) => pageOf('Temporarily unavailable', 'Temporarily unavailable', text);
  expect(examine(verse(`${lines.join('<br>')}</p><p>${lines.join('<br>')}`))).toBeUndefined();
  const poem = `<title>Not found</title><h1>Not found</h1><pre>${[...lines, ...lines].join('\n')}</pre><p>Ada Finch, 1911</p>`;
  expect(examine(poem)).toBeUndefined();
});

it.each(['h1', 'h2'])('a login before the heading of an article is beside it: %s', (name) => {
  const text = `Score the rim with a needle. Press the coil on and smooth it with a rib. ${'Let it rest under cloth. '.repeat(8)}`;
  const html = (heading: string) =>
    `<title>Coils</title><div><h4>Member login</h4>${FORM}</div><${name}>${heading}</${name}>`;
  expect(examine(`${html('Coil pots')}<p>${text}</p>`)).toBeUndefined();
  expect(examine(`${html('Log in')}<p>Please log in to continue.</p>`)?.kind).toBe('login');
});

it('a message that is nothing but preformatted text counts', () => {
  expect(examine('<title>Error</title><pre>Too many requests. Please slow down.</pre>')?.kind).toBe('rate-limit');
});

it('the name of the site is no topic', () => {
  const html = `<title>Page not found | Marlow Pottery</title><header><h1><a href="/">Marlow Pottery</a></h1></header>
    <h2>Sorry, this page is gone</h2><p>It may have been moved when we changed our shelves. Try the menu above.</p>`;
  expect(examine(html)?.kind).toBe('not-found');
});

it('links inside sentences belong to them', () => {
  const html = '<title>Notes</title><p>You must <a href="/login">log in</a> to view this page.</p>';
  expect(examine(html)?.kind).toBe('login');
});

it.each([
  [
    '403 Forbidden',
    'The 403 Forbidden response status code indicates that a server refuses a request that it understood.',
  ],
  ['429 Too Many Requests', 'Der Statuscode bedeutet, dass zu viele Anfragen gesendet wurden.'],
])('a reference of HTTP is content: %s', (title, text) => {
  expect(
    examine(pageOf(title, title, text, '<h2>Server configuration</h2><p>Directories need an index.</p>')),
  ).toBeUndefined();
});
