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
  ['We noticed something unusual', 'Please tick the box so that we know a person is browsing.'],
  ['Hang on', 'Your connection is being checked before you reach the site.'],
  ['Accès inhabituel détecté', "Cochez la case pour prouver que vous n'êtes pas un robot."],
  ['Comprobación rápida', 'Resuelve la suma para continuar.'],
  ['Abbiamo rilevato un accesso insolito', 'Spunta la casella per confermare che sei una persona.'],
  ['Wykryliśmy nietypowy dostęp', 'Zaznacz pole, abyśmy wiedzieli, że jesteś człowiekiem.'],
  ['Olağan dışı bir erişim tespit ettik', 'Devam edebilmeniz için robot olmadığınızı doğrulamamız gerekiyor.'],
  ['检测到异常访问', '请勾选以确认您是真人。'],
  ['رصدنا دخولا غير معتاد', 'ضع علامة في المربع لنتأكد أنك لست روبوتا.'],
  ['Uvanlig tilgang oppdaget', 'Kryss av i boksen så vi vet at du er et menneske.'],
  ['Overenie', 'Potvrďte, že nie ste robot.'],
  ['Am detectat un acces neobișnuit', 'Bifați căsuța pentru a confirma că sunteți om.'],
  ['Откривена је необична активност', 'Потврдите да нисте робот.'],
  ['Konstatēta neparasta darbība', 'Apstipriniet, ka neesat robots.'],
  ['Kami mendeteksi akses yang tidak biasa', 'Centang kotak untuk memastikan Anda bukan robot.'],
  ['ตรวจพบการเข้าใช้งานที่ผิดปกติ', 'กรุณาทำเครื่องหมายเพื่อยืนยันว่าคุณไม่ใช่หุ่นยนต์'],
  ['Εντοπίσαμε ασυνήθιστη δραστηριότητα', 'Επιβεβαιώστε ότι δεν είστε ρομπότ.'],
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
  ['You shall not pass', 'Our firewall turned your request away. Quote event 77-ab if you write to us.'],
  ['Hier kommen Sie leider nicht weiter', 'Unsere Firewall hat Ihre Anfrage abgewiesen. Ereignis 77-ab.'],
  ['Zone interdite', 'Votre compte ne dispose pas des droits requis.'],
  ['Você não pode acessar esta página', 'Nosso firewall recusou sua solicitação. Evento 77-ab.'],
  ['Accesso non consentito', 'Il tuo account non ha il ruolo necessario.'],
  ['Вам сюда нельзя', 'Наш межсетевой экран отклонил ваш запрос. Событие 77-ab.'],
  ['このページは表示できません', 'ファイアウォールによりリクエストが拒否されました。'],
  ['لا يمكنك الوصول إلى هذه الصفحة', 'رفض جدار الحماية طلبك. الحدث 77-ab.'],
  ['Du kan ikke åpne denne siden', 'Brannmuren vår avviste forespørselen din.'],
  ['Prístup zamietnutý', 'Nemáte oprávnenie na zobrazenie tejto stránky.'],
  ['Nu puteți accesa această pagină', 'Firewall-ul nostru a respins cererea dvs. Eveniment 77-ab.'],
  ['Pristup odbijen', 'Nemate ovlasti za pregled ove stranice.'],
  ['Dostop zavrnjen', 'Nimate dovoljenja za ogled te strani.'],
  ['Juurdepääs keelatud', 'Teil ei ole õigust seda lehte vaadata.'],
  ['Akses ditolak', 'Anda tidak mempunyai kebenaran untuk melihat halaman ini.'],
  ['אין באפשרותך להיכנס לעמוד זה', 'חומת האש דחתה את הבקשה שלך.'],
  ['دسترسی غیرمجاز', 'شما اجازه مشاهده این صفحه را ندارید.'],
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
  ['Not available in your state', 'Because of a new law we have disabled access to our website in your state.'],
  ["We're not in your country yet", "Leave your e-mail and we'll tell you when we launch where you live."],
  [
    'Du kannst das hier nicht ansehen',
    'Es sieht so aus, als wärst du außerhalb von Österreich. Wir haben nur die Rechte für Österreich.',
  ],
  ['Service non proposé dans votre pays', 'Vous semblez vous connecter hors de France.'],
  ['Contenido restringido', 'Disponible únicamente en territorio chileno.'],
  [
    'Non puoi guardare questo programma',
    "Sembra che tu ti trovi fuori dall'Italia. Abbiamo i diritti solo per l'Italia.",
  ],
  ['Nog niet in jouw land', 'Laat je e-mail achter.'],
  ['Этот фильм нельзя посмотреть там, где вы находитесь', 'Правообладатель разрешил показ только в России.'],
  ['Bu programı bulunduğunuz yerden izleyemezsiniz', 'Yayın hakkımız yalnızca Türkiye için geçerlidir.'],
  ['您所在的位置无法观看此节目', '我们仅拥有中国大陆的播放权。'],
  ['아직 해당 국가에서는 서비스를 제공하지 않습니다', '이메일을 남겨 주세요.'],
  ['Vi finns inte i ditt land än', 'Lämna din e-post.'],
  ['Ikke tilgjengelig der du er', 'Tjenesten kan kun brukes i Norge.'],
  ['Služba není ve vaší zemi dostupná', 'Pracujeme na tom.'],
  ['Acest program nu poate fi vizionat în țara dvs.', 'Avem drepturi doar pentru România.'],
  ['Ovaj sadržaj nije dostupan u vašoj zemlji', 'Prava imamo samo za Hrvatsku.'],
  ['Šis turinys jūsų šalyje nepasiekiamas', 'Teises turime tik Lietuvoje.'],
  ['Konten ini tidak tersedia di negara Anda', 'Kami hanya memiliki hak siar di Indonesia.'],
  ['ไม่สามารถรับชมรายการนี้ในประเทศของคุณ', 'เรามีลิขสิทธิ์เฉพาะในประเทศไทย'],
  ['यह वीडियो आपके देश में उपलब्ध नहीं है', 'हमारे पास केवल भारत के लिए अधिकार हैं।'],
  ['این محتوا در کشور شما در دسترس نیست', 'ما فقط حق پخش در ایران را داریم.'],
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
  ['This job has expired', 'The employer is no longer accepting applications for this role.'],
  ['This recipe has left the kitchen', 'We removed it from the site. Try another one of our recipes.'],
  ['This post was deleted', 'The author has deleted this post.'],
  ['Dieses Inserat wurde vom Anbieter deaktiviert', 'Sehen Sie sich ähnliche Wohnungen an.'],
  ['Fahrzeug verkauft', 'Dieses Fahrzeug steht nicht mehr zum Verkauf.'],
  ['Oups, vous êtes perdu ?', "Il n'y a rien à cette adresse. Vérifiez l'URL ou retournez à l'accueil."],
  ['Oferta de empleo cerrada', 'La empresa ya no acepta candidaturas para este puesto.'],
  ['El evento ya ha pasado', 'Consulta las próximas fechas.'],
  ['Ihh, essa página sumiu', 'Confira se digitou o endereço certo ou volte para o início.'],
  ['Articolo venduto', 'Questo oggetto è già stato venduto.'],
  ['Deze advertentie is verlopen', 'De verkoper heeft de advertentie verwijderd.'],
  ['Ogłoszenie zostało usunięte przez sprzedawcę', 'Sprawdź podobne ogłoszenia.'],
  ['Вакансия в архиве', 'Работодатель больше не принимает отклики.'],
  ['Оголошення неактивне', 'Автор зняв його з публікації. Перегляньте схожі оголошення.'],
  ['İlanın süresi doldu', 'Bu iş ilanı artık başvuru kabul etmiyor.'],
  ['この物件は掲載が終了しています', '条件の近い物件はこちらです。'],
  ['该职位已停止招聘', '请查看其他职位。'],
  ['此文章已被作者刪除', '您可以看看其他文章。'],
  ['삭제된 게시물입니다', '작성자가 글을 삭제했습니다.'],
  ['لا يوجد شيء هنا', 'تأكد من كتابة العنوان بشكل صحيح أو عد إلى الرئيسية.'],
  ['Här var det tomt', 'Kontrollera adressen eller gå till startsidan.'],
  ['Stillingen er ikke lenger ledig', 'Søknadsfristen har gått ut.'],
  ['Hups, täällä ei ole mitään', 'Tarkista osoite tai palaa etusivulle.'],
  ['Inzerát už nie je aktívny', 'Predajca ho vymazal. Pozrite si podobné inzeráty.'],
  ['Az állásajánlat lejárt', 'Erre az állásra már nem lehet jelentkezni.'],
  ['Обявата е изтрита', 'Продавачът е премахнал обявата. Вижте подобни обяви.'],
  ['Stranica nije pronađena', 'Stranica koju tražite ne postoji ili je premještena.'],
  ['Oglas ni več aktiven', 'Prodajalec je oglas odstranil.'],
  ['Sludinājums vairs nav aktīvs', 'Pārdevējs to ir izdzēsis.'],
  ['Aquest anunci ja no està disponible', "L'anunciant l'ha retirat."],
  ['Halaman tidak dijumpai', 'Halaman yang anda cari tidak wujud atau telah dipindahkan.'],
  ['ประกาศนี้หมดอายุแล้ว', 'ผู้ขายได้ลบประกาศแล้ว ดูประกาศอื่นที่คล้ายกัน'],
  ['אין כאן כלום', 'בדקו את הכתובת או חזרו לעמוד הבית.'],
  ['Η αγγελία δεν είναι πλέον ενεργή', 'Ο πωλητής την αφαίρεσε. Δείτε παρόμοιες αγγελίες.'],
  ['این آگهی حذف شده است', 'آگهی‌های مشابه را ببینید.'],
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
  ['pots.example may be yours', 'The owner of this name is open to offers.'],
  ['Domain registriert', 'Der Inhaber hat hier noch nichts veröffentlicht.'],
  ['Este domínio procura um novo dono', 'Envie a sua oferta.'],
  ['Ta domena szuka nowego właściciela', 'Złóż ofertę.'],
  ['Bu alan adı yeni sahibini arıyor', 'Teklif verin.'],
  ['이 도메인은 판매 중입니다', '구매를 원하시면 연락 주세요.'],
  ['Dette domæne er til salg', 'Giv et bud.'],
  ['Tato doména je na prodej', 'Pošlete nám nabídku.'],
  ['Acest domeniu este de vânzare', 'Trimite o ofertă.'],
  ['Овај домен је на продају', 'Пошаљите понуду.'],
  ['Šis domēns ir pārdošanā', 'Nosūtiet piedāvājumu.'],
  ['Domain ini dijual', 'Kirim penawaran Anda.'],
  ['הדומיין הזה עומד למכירה', 'שלחו הצעה.'],
  ['این دامنه برای فروش است', 'پیشنهاد خود را ارسال کنید.'],
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
  [
    'Hello from your new server',
    'If you are reading this, the installation was successful. Put your files into /var/www/html.',
  ],
  [
    'Votre nouveau serveur fonctionne',
    "Si vous voyez cette page, l'installation a réussi. Placez vos fichiers dans /var/www.",
  ],
  [
    'Il tuo nuovo server funziona',
    "Se vedi questa pagina, l'installazione è riuscita. Carica i tuoi file in public_html.",
  ],
  [
    'Поздравляем, сайт создан',
    'Если вы видите эту страницу, сервер настроен правильно. Загрузите файлы в public_html.',
  ],
  ['サーバーの設定が完了しました', 'public_htmlにファイルをアップロードしてください。'],
  ['تم إعداد الخادم بنجاح', 'ارفع ملفات موقعك إلى المجلد public_html.'],
  ['Den nye serveren din virker', 'Last opp filene dine til public_html.'],
  ['Gratulujeme, hosting je aktívny', 'Nahrajte svoje súbory do priečinka public_html.'],
  ['Поздравления, хостингът е активен', 'Качете файловете си в папка public_html.'],
  ['Selamat, server Anda aktif', 'Unggah file Anda ke folder public_html.'],
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
  ['Our bad', "Something on our end isn't working. We've been told about it."],
  ['Oups, un souci de notre côté', "Le serveur n'a pas pu répondre. Rechargez la page."],
  ['Ops, abbiamo avuto un problema', 'Il server non è riuscito a rispondere. Ricarica la pagina.'],
  ['Упс, у нас что-то сломалось', 'Сервер не смог ответить. Обновите страницу.'],
  ['サーバーに問題が発生しています', 'ページを再読み込みしてください。'],
  ['서버에 문제가 생겼습니다', '페이지를 새로고침해 주세요.'],
  ['Ups, vi har et problem', 'Serveren kunne ikke svare. Genindlæs siden.'],
  ['Jejda, máme problém', 'Server nemohl odpovědět. Obnovte stránku.'],
  ['Ups, avem o problemă', 'Serverul nu a putut răspunde. Reîncărcați pagina.'],
  ['Дошло је до грешке', 'Сервер није могао да одговори. Покушајте касније.'],
  ['Radās kļūda', 'Serveris nevarēja atbildēt. Mēģiniet vēlāk.'],
  ['Terjadi kesalahan', 'Server tidak dapat merespons. Muat ulang halaman.'],
  ['เกิดข้อผิดพลาดบางอย่าง', 'เซิร์ฟเวอร์ไม่สามารถตอบสนองได้ กรุณาโหลดหน้าใหม่'],
  ['Ουπς, κάτι πήγε στραβά', 'Ο διακομιστής δεν μπόρεσε να απαντήσει. Ανανεώστε τη σελίδα.'],
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
  ['Our website is having a makeover', 'Until then, reach us by e-mail.'],
  ['Too many visitors', 'Our servers are very busy at the moment. You will be let in automatically.'],
  ['Notre site fait peau neuve', 'Retrouvez-nous très bientôt. En attendant, écrivez-nous.'],
  ['Parada técnica', 'El servicio se restablecerá en unos minutos. Disculpa las molestias.'],
  ['Site em reformulação', 'Voltamos em alguns dias.'],
  ['Onze website krijgt een nieuw jasje', 'Tot die tijd kunt u ons mailen.'],
  ['Chwilowa przerwa', 'Aktualizujemy sklep, za kilka minut będzie znowu dostępny.'],
  ['Небольшой перерыв', 'Обновляем магазин, вернёмся через несколько минут.'],
  ['Yenileniyoruz', 'Yeni sitemiz sonbaharda açılıyor. O zamana kadar bize e-posta ile ulaşabilirsiniz.'],
  ['システムメンテナンスのためサービスを停止しています', '終了予定は午前6時です。'],
  ['網站改版中', '新網站即將上線,敬請期待。'],
  ['الموقع قيد التحديث', 'سنعود إليكم قريبا بحلة جديدة.'],
  ['Sidan är under arbete', 'Välkommen tillbaka inom kort.'],
  ['Planlagt vedlikehold pågår', 'Tjenesten er tilbake klokken 06.'],
  ['Sivut työn alla', 'Tervetuloa pian uudelleen.'],
  ['Stránky jsou v rekonstrukci', 'Děkujeme za trpělivost.'],
  ['Megújul a honlapunk', 'Az új oldal ősszel indul. Addig e-mailben érhet el minket.'],
  ['Lucrări de mentenanță', 'Serviciul va fi disponibil la ora 6. Ne cerem scuze pentru neplăceri.'],
  ['Временно недостъпен', 'Извършваме профилактика на системата.'],
  ['Stran je v izdelavi', 'Kmalu bomo nazaj.'],
  ['Lapa tiek veidota', 'Drīzumā būsim atpakaļ.'],
  ['Situs kami sedang diperbarui', 'Nantikan tampilan baru kami.'],
  ['ขณะนี้เว็บไซต์อยู่ระหว่างการปรับปรุง', 'ขออภัยในความไม่สะดวก'],
  ['עבודות תחזוקה', 'השירות יחזור לפעול בשעה 6:00. מתנצלים על אי הנוחות.'],
  ['Ο ιστότοπός μας ανανεώνεται', 'Θα είμαστε ξανά κοντά σας το φθινόπωρο.'],
  ['در دست تعمیر', 'سایت موقتا در دسترس نیست.'],
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
  ['Take a breather', "You've opened a lot of pages in a short time. Try again in a few minutes."],
  ['Tageslimit erreicht', 'Morgen können Sie wieder suchen.'],
  ['Calma aí', 'Você abriu muitas páginas em pouco tempo. Tente de novo em alguns minutos.'],
  ['Zwolnij trochę', 'Otwierasz zbyt wiele stron w krótkim czasie. Spróbuj ponownie za kilka minut.'],
  ['アクセスが多すぎます', 'しばらく時間をおいてから再度お試しください。'],
  ['요청이 너무 잦습니다', '잠시 후 다시 시도해 주세요.'],
  ['Tag det roligt', 'Du har åbnet mange sider på kort tid. Prøv igen om et par minutter.'],
  ['Zpomalte prosím', 'Za krátkou dobu jste otevřeli příliš mnoho stránek.'],
  ['Prea multe cereri', 'Ați deschis prea multe pagini într-un timp scurt.'],
  ['Превише захтева', 'Покушајте поново за неколико минута.'],
  ['Pārāk daudz pieprasījumu', 'Mēģiniet vēlreiz pēc dažām minūtēm.'],
  ['Terlalu banyak permintaan', 'Silakan coba lagi beberapa menit lagi.'],
  ['बहुत अधिक अनुरोध', 'कृपया कुछ मिनट बाद पुनः प्रयास करें।'],
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
  [
    'Tram talks stall',
    'Talks ended at midnight. You have reached your limit of 3 free articles this month. Subscribe for $1 a week.',
  ],
  ['Tram talks stall', 'Talks ended at midnight. This post is for paid subscribers. Upgrade to paid.'],
  [
    'Straßenbahn',
    'Die Gespräche endeten um Mitternacht. Sie haben Ihre kostenlosen Artikel für diesen Monat gelesen. Jetzt 4 Wochen für 1 Euro testen.',
  ],
  ['Tramway', 'Les négociations ont échoué. Vous avez lu vos 3 articles gratuits du mois. Abonnez-vous pour 1 euro.'],
  ['Tranvía', 'Las conversaciones acabaron. Contenido solo para suscriptores. Elige tu plan.'],
  ['Elétrico', 'As conversas terminaram. Este artigo é exclusivo para assinantes. Veja as opções de assinatura.'],
  [
    'Tram',
    'De gesprekken zijn mislukt. U heeft al uw gratis artikelen van deze maand gelezen. Neem een abonnement vanaf 1 euro.',
  ],
  [
    'Tramwaj',
    'Rozmowy zakończyły się o północy. Chcesz przeczytać cały artykuł? Wybierz prenumeratę. Masz już konto? Zaloguj się.',
  ],
  ['Трамвай', 'Переговоры закончились в полночь. Продолжение — по подписке.'],
  [
    'Tramvay',
    'Görüşmeler gece yarısı bitti. Yazının tamamını okumak için abone olun. Zaten abone misiniz? Giriş yapın.',
  ],
  ['路面電車', '交渉は決裂した。続きは有料プランでお読みいただけます。'],
  ['전차 협상', '협상은 자정에 끝났다. 이번 달 무료 기사를 모두 읽으셨습니다. 구독하고 계속 읽으세요.'],
  [
    'Spårvagn',
    'Samtalen slutade vid midnatt. Du har läst dina gratisartiklar för den här månaden. Prenumerera för 1 krona.',
  ],
  ['Sporvogn', 'Forhandlingerne sluttede ved midnat. Artiklen er kun for abonnenter. Allerede abonnent? Log ind.'],
  ['Raitiovaunu', 'Neuvottelut päättyivät keskiyöllä. Haluatko lukea koko jutun? Se on tilaajien luettavissa.'],
  ['Električka', 'Rokovania sa skončili o polnoci. Odomknite si celý článok za 1 euro.'],
  ['Tramvai', 'Discuțiile s-au încheiat la miezul nopții. Acest articol este disponibil doar abonaților.'],
  [
    'Tramvaj',
    'Pogajanja so se končala opolnoči. Članek je dostopen samo naročnikom. Že imate naročnino? Prijavite se.',
  ],
  [
    'Tramvia',
    'Les converses es van acabar. Aquest contingut és exclusiu per a subscriptors. Subscriu-te per continuar llegint.',
  ],
  ['Xe điện', 'Đàm phán kết thúc lúc nửa đêm. Bài viết dành riêng cho hội viên.'],
  ['ट्राम', 'बातचीत आधी रात को समाप्त हुई। यह लेख केवल सब्सक्राइबर के लिए है। पूरा पढ़ने के लिए सदस्यता लें।'],
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
  [
    'This content requires access',
    "You don't have access to this page. Log in with an account that was invited, or ask the owner to share it with you.",
  ],
  ['Staff intranet', 'Use your network account to sign in.'],
  ['Willkommen zurück', 'Bitte loggen Sie sich ein, um fortzufahren.'],
  ['Este contenido es privado', 'Entra con una cuenta invitada o pide acceso al propietario.'],
  ['A sua sessão terminou', 'Inicie sessão novamente.'],
  ['Ledenportaal', 'Vul je lidnummer en wachtwoord in.'],
  ['Доступ только для участников', 'Войдите под приглашённой учётной записью или запросите доступ у владельца.'],
  ['Bu içerik gizli', 'Davet edilen bir hesapla giriş yapın veya sahibinden erişim isteyin.'],
  ['自動的にログアウトしました', 'お手数ですが再度ログインしてください。'],
  ['회원 전용', '아이디와 비밀번호를 입력하세요.'],
  ['Innehållet är privat', 'Logga in med ett inbjudet konto eller be ägaren om åtkomst.'],
  ['Innholdet er privat', 'Logg inn med en invitert konto eller be eieren om tilgang.'],
  ['Obsah je soukromý', 'Přihlaste se pozvaným účtem, nebo požádejte vlastníka o přístup.'],
  ['Tagi terület', 'Adja meg a felhasználónevét és jelszavát.'],
  ['Prijavite se', 'Morate biti prijavljeni za pregled ove stranice.'],
  ['Prisijunkite', 'Norėdami matyti šį puslapį, turite prisijungti.'],
  ['Konten ini khusus anggota', 'Masukkan nama pengguna dan kata sandi.'],
  ['เฉพาะสมาชิก', 'กรุณากรอกชื่อผู้ใช้และรหัสผ่าน'],
  ['Σύνδεση μελών', 'Πρέπει να συνδεθείτε για να δείτε αυτή τη σελίδα.'],
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
  ['How old are you?', 'You have to be 18 or older to look at this shop.'],
  ['Quantos anos você tem?', 'Esta loja é destinada a maiores de 18 anos.'],
  ['Ile masz lat?', 'Sklep jest przeznaczony dla osób, które ukończyły 18 lat.'],
  ['年齢を確認させてください', '18歳未満の方はご覧いただけません。'],
  ['Hur gammal är du?', 'Du måste vara 18 år eller äldre för att besöka butiken.'],
  ['Kuinka vanha olet?', 'Sinun on oltava vähintään 18-vuotias päästäksesi sivustolle.'],
  ['Elmúltál már 18 éves?', 'Az oldal csak felnőtteknek szól.'],
  ['Imate li 18 godina?', 'Stranica je namijenjena punoljetnim osobama.'],
  ['Ar jums jau yra 20 metų?', 'Svetainėje yra informacijos apie alkoholį.'],
  ["Ets major d'edat?", 'Has de tenir 18 anys o més per entrar.'],
  ['האם את/ה מעל גיל 18?', 'האתר מיועד למבוגרים בלבד.'],
  ['آیا بالای ۱۸ سال دارید؟', 'این سایت مخصوص بزرگسالان است.'],
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
  [
    'Make a choice to continue',
    'Accept personalised ads and read for free, or pay 3 euros a month to browse without tracking.',
  ],
  ['Nutzen Sie unser Angebot wie gewohnt', 'Mit Werbung und Cookies kostenlos, oder ohne Werbetracking im Abo.'],
  [
    'Elige cómo quieres continuar',
    'Acepta las cookies y navega gratis, o paga 2 euros al mes y navega sin publicidad.',
  ],
  ['Valorizamos a sua privacidade', 'Nós e os nossos 815 fornecedores guardamos informações no seu dispositivo.'],
  ['Maak een keuze om verder te gaan', 'Accepteer cookies en lees gratis, of neem een abonnement zonder advertenties.'],
  ['Cenimy Twoją prywatność', 'My i nasi 815 dostawcy przechowujemy informacje na Twoim urządzeniu.'],
  [
    'Gizliliğinize değer veriyoruz',
    'Biz ve 815 iş ortağımız cihazınızda çerez saklıyoruz. Devam etmek için kabul edin.',
  ],
  ['개인정보 보호를 중요하게 생각합니다', '당사와 815개 파트너는 기기에 쿠키를 저장합니다. 계속하려면 동의하세요.'],
  ['Välj hur du vill fortsätta', 'Godkänn kakor och läs gratis, eller prenumerera för att slippa annonser.'],
  ['Vi bryr oss om personvernet ditt', 'Vi og våre 815 leverandører lagrer informasjon på enheten din.'],
  [
    'Přejete si pokračovat?',
    'Potřebujeme váš souhlas s používáním cookies pro cílení reklamy, nebo si kupte předplatné bez reklam.',
  ],
  ['Tiszteletben tartjuk a magánszféráját', 'Mi és 815 partnerünk sütiket tárolunk az Ön eszközén.'],
  ['Ние ценим вашата поверителност', 'Ние и нашите 815 партньори съхраняваме бисквитки на вашето устройство.'],
  ['Cenimo vašo zasebnost', 'Mi in naših 815 partnerjev shranjujemo piškotke na vaši napravi.'],
  ['Me hoolime teie privaatsusest', 'Meie ja meie 815 partnerit salvestame teie seadmesse küpsiseid.'],
  ['Chúng tôi coi trọng quyền riêng tư của bạn', 'Chúng tôi và 815 đối tác lưu trữ cookie trên thiết bị của bạn.'],
  ['हम आपकी गोपनीयता को महत्व देते हैं', 'हम और हमारे 815 साझेदार आपके डिवाइस पर कुकीज़ संग्रहीत करते हैं।'],
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
  [
    'This house was sold',
    'This house was sold',
    'This house was sold in 1911 for forty pounds. You can visit it on Sundays, and the garden is open all year.',
  ],
  [
    'Our rights in Ireland',
    'Our rights in Ireland',
    'We have rights in this country that our parents lacked. You should know them before you sign a lease.',
  ],
  ['Free articles', 'Free articles', 'We publish ten free articles a month. Write to us if you want to contribute.'],
  [
    'Fresh coat of paint',
    'Fresh coat of paint',
    'We painted the boat house last week. Come and see it, the tea is on us.',
  ],
  [
    'Scheduled downtime',
    'Scheduled downtime',
    'Our bodies need scheduled downtime. Sleep eight hours and you will feel the difference.',
  ],
  [
    'Server jobs',
    'Server jobs',
    'Our restaurant needs a server. The last server could not handle the evening rush, so please bring experience.',
  ],
  [
    'Is your house number missing?',
    'Is your house number missing?',
    'Fire crews ask you to put it where it can be seen from the road.',
  ],
  [
    'This job has changed me',
    'This job has changed me',
    'I drove a night bus for nine years. You meet everybody, and you learn to listen.',
  ],
  [
    'Members area of the club',
    'Members area of the club',
    'The members area has a new roof. You can book it for birthdays.',
  ],
  [
    'Lost page of a diary found',
    'Lost page of a diary found',
    'We lost this page in 1950, says the archive. It turned up between two cookbooks.',
  ],
  [
    'Two weeks without cookies',
    'Two weeks without cookies',
    'I stopped eating cookies for two weeks. You would not believe how I slept.',
  ],
  [
    'Veranstaltung vorbei',
    'Veranstaltung vorbei',
    'Die Veranstaltung ist vorbei, die Freiwilligen räumen auf. Wir danken allen Helfern und freuen uns auf das nächste Jahr.',
  ],
  [
    'Wie alt bist du?',
    'Wie alt bist du?',
    'So fragte meine Oma jeden Besucher. Sie selbst war so alt wie der Birnbaum hinter unserem Haus.',
  ],
  [
    'Neue Seiten der Altstadt',
    'Neue Seiten der Altstadt',
    'Unsere neue Führung zeigt Ihnen die Altstadt von einer anderen Seite. Treffpunkt ist der Markt.',
  ],
  [
    'Baustelle Hafenstraße',
    'Baustelle Hafenstraße',
    'Die Hafenstraße bleibt bis Juni eine Baustelle. Bitte nutzen Sie die Umleitung über den Markt.',
  ],
  [
    'Cette maison a été vendue',
    'Cette maison a été vendue',
    'Elle a été vendue en 1911 à un meunier. Vous pouvez la visiter le dimanche.',
  ],
  [
    'Quel âge avez-vous ?',
    'Quel âge avez-vous ?',
    "C'est la première question de ma grand-mère. Elle-même a l'âge du poirier.",
  ],
  [
    'Nos droits',
    'Nos droits',
    "Nous avons des droits que nos parents n'avaient pas. Apprenez-les avant de signer un bail.",
  ],
  [
    "Offre d'emploi",
    "Offre d'emploi",
    'Nous cherchons un boulanger. Envoyez votre candidature avant le 3 mai à notre adresse.',
  ],
  [
    'Fuera de Madrid',
    'Fuera de Madrid',
    'Si estás fuera de Madrid el domingo, te proponemos tres excursiones en tren.',
  ],
  [
    'Marca la casilla',
    'Marca la casilla',
    'En la declaración puedes marcar la casilla de la Iglesia. Te explicamos adónde va el dinero.',
  ],
  [
    'La tienda cierra',
    'La tienda cierra',
    'La última tienda del pueblo ha cerrado. Ahora hay que conducir veinte kilómetros.',
  ],
  ['Fora do Rio', 'Fora do Rio', 'Se você está fora do Rio no domingo, veja três passeios de trem.'],
  ['Voltamos da viagem', 'Voltamos da viagem', 'Voltamos em maio, com fotos de seis países. Veja a nossa galeria.'],
  [
    'Lavori in corso in via Roma',
    'Lavori in corso in via Roma',
    'I lavori in corso dureranno fino a giugno. Vi preghiamo di usare via Milano.',
  ],
  [
    'Abbiamo i diritti',
    'Abbiamo i diritti',
    'Abbiamo diritti che i nostri genitori non avevano. Leggili prima di firmare.',
  ],
  ['Buiten Nederland', 'Buiten Nederland', 'Buiten Nederland drinkt men de koffie anders. Wij proefden in zes landen.'],
  [
    'Ten dom został sprzedany',
    'Ten dom został sprzedany',
    'Dom został sprzedany w 1911 roku. Możesz go zwiedzić w niedzielę.',
  ],
  ['Mamy prawa', 'Mamy prawa', 'Mamy prawa, których nie mieli nasi rodzice. Poznaj je, zanim podpiszesz umowę.'],
  ['Сколько вам лет?', 'Сколько вам лет?', 'Так спрашивала моя бабушка. Ей самой было столько же, сколько груше.'],
  ['Магазин открылся', 'Магазин открылся', 'Магазин открылся на улице Мира. Здесь вы найдёте чашки и тарелки.'],
  ['Цей будинок продано', 'Цей будинок продано', 'Будинок продано 1911 року. Ви можете відвідати його в неділю.'],
  ['Bu ev satıldı', 'Bu ev satıldı', "Ev 1911'de satıldı. Pazar günleri gezebilirsiniz."],
  ['この家は売却されました', 'この家は売却されました', '1911年に粉屋に売却されました。日曜日に見学できます。'],
  ['募集を終了した劇団', '募集を終了した劇団', '劇団は今年の募集を終了した。来年の公演は五月に始まる。'],
  ['老城改版地图', '老城改版地图', '新版地图由学生绘制,您可以在书店购买。'],
  ['이 집은 팔렸습니다', '이 집은 팔렸습니다', '1911년에 방앗간 주인에게 팔렸습니다. 일요일에 구경하실 수 있습니다.'],
  ['كم عمرك؟', 'كم عمرك؟', 'هكذا كانت جدتي تسأل الجميع. كانت هي في عمر شجرة الكمثرى.'],
  [
    'Det här huset är sålt',
    'Det här huset är sålt',
    'Huset såldes 1911 till en mjölnare. Du kan besöka det på söndagar.',
  ],
  ['Hur gammal är du?', 'Hur gammal är du?', 'Så frågade min mormor alla. Själv var hon lika gammal som päronträdet.'],
  ['Vi pusser opp', 'Vi pusser opp', 'Kjøkkenet var fra 1950. Nå pusser vi opp, og du kan følge oss her hver fredag.'],
  ['Sivut kääntyvät', 'Sivut kääntyvät', 'Luemme joka ilta kaksi sivua. Voit kuunnella meitä radiosta.'],
  ['Kolik je vám let?', 'Kolik je vám let?', 'Tak se ptala moje babička. Sama byla stará jako hrušeň.'],
  ['Ez a ház elkelt', 'Ez a ház elkelt', 'A házat 1911-ben eladták. Vasárnap megnézheti.'],
  ['Casa a fost vândută', 'Casa a fost vândută', 'Casa a fost vândută în 1911. O puteți vizita duminica.'],
  ['Radovi u ulici', 'Radovi u ulici', 'Radovi na održavanju ceste traju do lipnja. Molimo koristite obilaznicu.'],
  ['Namas parduotas', 'Namas parduotas', 'Namas parduotas 1911 metais. Galite aplankyti sekmadienį.'],
  ['Casa venuda', 'Casa venuda', 'La casa es va vendre el 1911. La podeu visitar el diumenge.'],
  ['Resep kue kering', 'Resep kue kering', 'Campur tepung dan mentega. Anda dapat menyimpan kue selama dua minggu.'],
  ['ปิดถนนชั่วคราว', 'ปิดถนนชั่วคราว', 'ถนนท่าเรือปิดชั่วคราวถึงเดือนมิถุนายน กรุณาใช้ทางเลี่ยง'],
  ['यह घर बिक चुका है', 'यह घर बिक चुका है', 'घर 1911 में बिका था। आप रविवार को इसे देख सकते हैं।'],
  [
    'Υπό κατασκευή το νέο θέατρο',
    'Υπό κατασκευή το νέο θέατρο',
    'Το νέο θέατρο θα έχει 800 θέσεις. Σας περιμένουμε τον Μάιο.',
  ],
  ['Discontinued', 'Discontinued', 'The steam ferry was discontinued in 1962. You can still see the pier at low tide.'],
  ['Log of the Mary', 'Log of the Mary', 'Log in hand, the captain asked for silence. You could hear the ice.'],
  [
    'Nicht in unserem Land',
    'Nicht in unserem Land',
    'In unserem Land trinkt man Kaffee nicht im Stehen. Wir zeigen, wie es die Nachbarn machen.',
  ],
  [
    'Poste pourvu',
    'Poste pourvu',
    'Le poste de cantor est pourvu. Nous accueillerons la musicienne dimanche à la messe.',
  ],
  [
    'Kiln 4 out of order',
    'Kiln 4 out of order',
    'Kiln 4 is temporarily out of service. Please book kiln 2 at the desk.',
  ],
  ['Theepot', 'Theepot', 'Deze theepot is niet meer leverbaar in blauw. U kunt hem in groen bestellen.'],
  ['The choir', 'The choir', 'You need a paid subscription to hear the choir in the hall. Ask at the door.'],
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
