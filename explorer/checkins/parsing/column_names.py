"""Vocabulary of column names of check-ins in seven languages."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

ENGLISH = "English"

NAMES: dict[str, dict[str, str]] = {
    "user": {
        ENGLISH: "user uid username login screenname nickname handle nsid member customer "
        "subscriber passenger rider driver commuter cardholder patient participant respondent "
        "person athlete observer author reviewer recordedby observedby imsi msisdn",
        "German": "nutzer benutzer nutzername benutzername anwender kunde teilnehmer mitglied "
        "fahrer fahrgast beobachter proband mitarbeiter",
        "Spanish": "usuario usuaria persona cliente miembro pasajero conductor paciente abonado "
        "participante observador empleado",
        "French": "utilisateur utilisatrice usager personne membre passager conducteur abonne "
        "observateur adherent",
        "Italian": "utente persona cliente membro passeggero conducente autista paziente abbonato "
        "partecipante osservatore dipendente",
        "Portuguese": "usuario utilizador pessoa cliente membro passageiro motorista condutor "
        "paciente assinante participante observador funcionario",
        "Dutch": "gebruiker gebruikersnaam persoon klant passagier bestuurder deelnemer waarnemer "
        "medewerker reiziger",
    },
    "device": {
        ENGLISH: "device handset imei meid idfa idfv gaid aaid maid taxi cab medallion mmsi icao "
        "vin hack smartcard icao24",
        "German": "gerat geraet kennzeichen",
        "Spanish": "dispositivo matricula",
        "French": "appareil immatriculation",
        "Italian": "dispositivo targa",
        "Portuguese": "dispositivo placa",
        "Dutch": "apparaat kenteken",
    },
    "numbered": {
        ENGLISH: "individual subject student pupil employee worker staff courier traveller "
        "traveler runner cyclist player owner resident citizen tourist visitor guest caller "
        "callee sender recipient volunteer surveyor interviewee photographer submitter uploader "
        "contributor account profile client vehicle car truck lorry bus tram train vessel ship "
        "boat aircraft plane plate card sim wallet oyster tag tracker collar beacon transmitter "
        "ptt animal bird wearable smartphone mobilephone macaddress imo tailnumber "
        "advertiser advertising android",
        "German": "kunden personen nutzers benutzers mitglieds teilnehmers fahrzeug schiff "
        "flugzeug karten tier schuler patienten",
        "Spanish": "vehiculo buque barco tarjeta aeronave titular alumno",
        "French": "vehicule navire bateau carte avion employe eleve titulaire client passagere",
        "Italian": "veicolo nave tessera aeromobile titolare studente",
        "Portuguese": "veiculo navio cartao aeronave titular aluno",
        "Dutch": "gebruikers voertuig schip kaart vliegtuig dier patienten",
    },
    "time": {
        ENGLISH: "time timestamp datetime date utctime checkintime createdat created utc ts when "
        "localtime timeutc timelocal",
        "German": "zeit zeitpunkt zeitstempel datumzeit datumuhrzeit datumundzeit "
        "datumunduhrzeit zeitutc utczeit erstelltam datum uhrzeit",
        "Spanish": "fechahora fechayhora fechahorautc marcadetiempo hora horautc instante tiempo "
        "momento fecha",
        "French": "horodatage dateheure dateetheure dateheureutc heure heureutc instant temps",
        "Italian": "dataora dataeora marcatemporale ora orario istante tempo data",
        "Portuguese": "datahora dataehora carimbodetempo hora horario instante tempo data",
        "Dutch": "tijdstip tijdstempel datumtijd datumentijd tijd moment datum",
    },
    "lat": {
        ENGLISH: "lat latitude lattitude y",
        "German": "breite breitengrad geobreite geografischebreite geographischebreite",
        "Spanish": "latitud",
        "French": "latitude",
        "Italian": "latitudine",
        "Portuguese": "latitude",
        "Dutch": "breedte breedtegraad",
    },
    "lon": {
        ENGLISH: "lon lng long longitude longtitude x",
        "German": "lange laenge langengrad laengengrad geolange geolaenge geografischelange "
        "geographischelange geografischelaenge geographischelaenge",
        "Spanish": "longitud",
        "French": "longitude",
        "Italian": "longitudine",
        "Portuguese": "longitude",
        "Dutch": "lengte lengtegraad",
    },
    "location": {
        ENGLISH: "loc location locationid locid venue venueid poi poiid place placeid spot spotid",
        "German": "ort ortid ortsid standort standortid platz lokal",
        "Spanish": "lugar lugarid idlugar sitio ubicacion idubicacion",
        "French": "lieu lieuid idlieu endroit emplacement",
        "Italian": "luogo luogoid idluogo posto",
        "Portuguese": "lugar local idlocal",
        "Dutch": "plaats plaatsid locatie locatieid",
    },
    "weight": {
        ENGLISH: "count weight n visits freq frequency checkins num",
        "German": "anzahl gewicht haufigkeit haeufigkeit besuche",
        "Spanish": "cantidad conteo peso frecuencia visitas",
        "French": "nombre poids effectif frequence visites",
        "Italian": "conteggio peso frequenza visite",
        "Portuguese": "contagem quantidade peso frequencia visitas",
        "Dutch": "aantal gewicht frequentie bezoeken",
    },
}
"""Role → language → words in the form of `key`. Words of ``user`` and ``device`` denote identifiers
alone, those of ``numbered`` only next to one of `COMPANIONS`."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _all(role: str) -> frozenset[str]:
    return _set(" ".join(NAMES[role].values()))


UNSURE_WEIGHTS = _set(
    "n freq frequency num haufigkeit haeufigkeit frecuencia nombre frequence frequenza frequencia "
    "frequentie"
)
"""Words for weights that are northings, radio frequencies or running numbers as well. The mass of a
person or an animal changes nothing: rows of one user share their weight."""

COMPANIONS = _set(
    "id ids identifier identifiant identificador identificatore identificativo ident key number "
    "num nr no nummer numero hash hashed name nom nombre nome naam screen local uuid guid ref "
    "kennung schlussel schluessel cle clave chave chiave sleutel license licence registration "
    "serial hex"
)
"""Words that make an identifier of a neighbouring word for a person or device."""

_NAMES_OF = _set("name nom nombre nome naam screen username screenname nickname login handle")
"""Words for names of persons; numeric ids of the same person are preferred."""

_NEUTRAL = _set(
    "de del della di da do des du la le el il the a pseudo pseudonym anon anonymous anonymized "
    "anonymised masked encrypted unique internal external public private global main original gps "
    "mobile utc"
)
"""Neutral words."""

VETO_WORDS = _set(
    "type typ tipo types count counts cnt anzahl nombres agent category categoria kategorie "
    "categorie casual class classe klasse classification model modelo modele modell lang language "
    "locale zone timezone age alter edad eta idade gender genero genre sex sexe sexo geschlecht "
    "group gruppe grupo segment status state estado stato version os osname platform brand make "
    "manufacturer maker marca marke birth naissance year ano jahr annee month day hour weight "
    "height peso score rate rating stars role level tier plan total sum avg mean average min max "
    "minimum maximum speed velocity velocidad vitesse geschwindigkeit battery temp temperature "
    "voltage time timestamp datetime date datum fecha data zeit heure hora ora tijd created "
    "updated since url uri link avatar icon color colour text description desc comment comments "
    "note notes city country zip postcode address email lat lon lng latitude longitude taxon "
    "species followers friends favourites statuses verified flag is has share ratio percent "
    "distance duration seconds minutes miles km meters metres heading course bearing altitude "
    "elevation accuracy hdop range length width size color seats capacity price fare fee amount "
    "tip tips ethnicity race nationality profession occupation income education membership "
    "ownership friendship relationship present tech spec quantity cause causa"
)
"""Words that give a neighbouring word for a person another meaning."""

RECORDS = _set(
    "trip trips ride order booking journey route line linea ligne linie shift session event record "
    "row transaction post tweet photo image picture message review checkin visit encounter "
    "observation sighting occurrence activity workout track tracks trajectory traj point segment "
    "location place venue poi station stop area site region company firm business agency vendor "
    "provider organisation organization team club study project dataset sensor case incident "
    "report ticket fahrt viaje viagem viaggio voyage trajet rit reis auftrag pedido ordine "
    "commande bestelling buchung deployment cell tower antenna"
)
"""Words for records, places and organisations, whose ids do not identify persons."""

WEAK_ID_WORDS = _set(
    "id ids identifier ident name nom nombre nome naam number numero nummer key code household "
    "family host nurse doctor victim officer reporter collector phone telephone tel telefon node "
    "bike bicycle scooter fahrrad bici bicicleta velo fiets flight callsign hex serial "
    "session cookie ip track trajectory traj case client registration operator"
)
"""Words that may name persons or devices."""

_KINDS = {
    **dict.fromkeys(_set("individual animal bird tag collar ptt transmitter tier dier"), "animal"),
    **dict.fromkeys(_set("mmsi imo vessel ship schiff navire buque"), "vessel"),
    **dict.fromkeys(_set("icao icao24 aircraft tailnumber"), "aircraft"),
    **dict.fromkeys(_set("vin plate vehicle car fahrzeug kennzeichen"), "vehicle"),
    **dict.fromkeys(_set("username screenname nickname login handle uid nsid"), "user"),
}
"""Synonyms of persons or devices, by kind."""

_JOINT_WORDS = _set(
    "screen-name user-name recorded-by observed-by mac-address tail-number mobile-phone nick-name "
    "icao-24 time-zone"
)
"""Pairs of words with a joint meaning."""

CLEAR_WORDS = {
    role: _all(role) - _set("x y breite lange laenge breedte lengte") for role in ("lat", "lon")
}
AMBIGUOUS_WORDS = {
    "lat": _set("y ycoord breite breedte"),
    "lon": _set("x xcoord lange laenge lengte"),
}
"""Unambiguous and ambiguous words for coordinates."""

NO_COORDINATE = _set(
    "acc accuracy accel precision error err std sd sigma uncertainty variance speed velocity mag "
    "gyro distance date time name type flag count num pixel px rad radian radians"
)
"""Words that denote other measurements than positions in names of coordinates."""

_FILLING = _set("e wgs wgs84 coord coords coordinate coordinates deg degree degrees decimal dd geo")
"""Words of coordinate names that do not distinguish pairs."""

TIMES = _all("time") | _set(
    "datetimeutc epoch unix millis unixtime timestampms day taken observed recorded captured fix "
    "seen reported pickup start started begin beginn inicio debut inizio end ended ende fin fine "
    "at on jour dia giorno dag t now"
)
"""Words for times."""

_DAYS = _set("day date datetime datum fecha data dia jour giorno dag tag")

_TIME_ENDS = ("time", "timestamp", "date", "zeit", "datum")

_NO_TIME = _set(
    "zone timezone offset precision accuracy granularity period duration elapsed moving travel "
    "spent birth dob born working opening unknown zulu"
)
ZONES = _set("timezone timezones tz tzid tzname offset utcoffset gmtoffset")
"""Words for offsets from UTC and time zones of the times in another column."""

OTHER_TIME_WORDS = _set(
    "updated modified edited exported eta expiry expires expiration registered joined birthday "
    "birth dob born geburtsdatum nacimiento naissance nascita nascimento"
)
"""Words for times other than the row's."""

CALENDAR = _set(
    "year jahr ano annee an anno jaar month monat mes mois mese maand day tag dia jour giorno dag "
    "hour stunde hora heure ora uur"
)
"""Words for parts of dates that may have a column each."""

HOUSEHOLDS = _set("household hh haushalt hogar menage famiglia huishouden sampn")
"""Words for households; surveys number the persons within each."""

NOBODY = _set("null none nan na n/a <na> \\n (null) undefined unknown anonymous")
"""Texts, in lower case, that stand for an unknown person."""

_NO_PERSON = (
    VETO_WORDS
    | RECORDS
    | NO_COORDINATE
    | _all("location")
    | _all("weight")
    | _all("time")
    | _set(
        "source provider address street road district neighborhood neighbourhood "
        "borough province county suburb postal strasse stadt land ville rue ciudad calle pais "
        "humidity pressure wind rain noise value reading signal rssi snr satellites sats depth "
        "power energy steps heartrate cadence zip geohash grid rpm population velocidade linha "
        "commune communes comuna distrito districte bundesland betreiber"
    )
)
"""Words that rule out persons and devices."""

_BRACKETS = re.compile(r"\([^()]*\)|\[[^][]*\]")

_MAX_NAME_LENGTH = 200
"""Maximum length of compared names."""

_LANGUAGES = tuple(NAMES["user"])
_WORDS_BY_LANGUAGE = {
    language: frozenset(word for said in NAMES.values() for word in said[language].split())
    for language in _LANGUAGES
}
_ALL_WORDS = frozenset().union(*_WORDS_BY_LANGUAGE.values())
_PERSON_WORDS = _all("user") | _all("device")
_NUMBERED = _all("numbered")
_VOCABULARY = frozenset(
    word
    for words in (
        _PERSON_WORDS,
        _NUMBERED,
        COMPANIONS,
        _NEUTRAL,
        VETO_WORDS,
        RECORDS,
        WEAK_ID_WORDS,
        TIMES,
        *CLEAR_WORDS.values(),
        _FILLING,
        _set("pickup dropoff pick drop start end home work venue origin destination raw"),
    )
    for word in words
    if len(word) > 1
)


class Sure(IntEnum):
    """Certainty of what a name denotes."""

    NO = 0
    MAYBE = 1
    YES = 2


class Identity(NamedTuple):
    """Whether and how surely a column identifies persons or devices.

    Attributes
    ----------
    sure : Sure
    kind : str
        Columns of the same kind may name the same one twice.
    rank : int
        Of one kind, the lowest is preferred: numbers before names.
    """

    sure: Sure
    kind: str = ""
    rank: int = 0


def _plain(text: str) -> str:
    """Return a text without case and accents."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in letters if not unicodedata.combining(c))


def key(name: str) -> str:
    """Return a name reduced to letters, without case, accents and units in brackets."""
    return re.sub(r"[^a-z]", "", _plain(_without_units(name)))


def _without_units(name: str) -> str:
    """Return a name without bracketed parts, unless nothing else is left."""
    bare = _BRACKETS.sub(" ", name)  # in linear time for any name
    # Normal forms take a time that grows with the square of a run of combining marks.
    return (bare if bare.strip() else name)[:_MAX_NAME_LENGTH]


@lru_cache(maxsize=4096)
def words_in(name: str) -> tuple[str, ...]:
    """Split a column name into words without case and accents: ``userId`` has two.

    Names are cut at signs, at capitals, between letters and digits, and where a run of letters is
    made of known words alone.
    """
    cut = re.sub(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])", " ", _without_units(name))
    cut = re.sub(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])|(?<=[A-ZÀ-Þ])(?=[A-ZÀ-Þ][a-zà-ÿ])", " ", cut)
    runs = [_plain(word) for word in re.split(r"[\W_]+", cut) if word]
    joined: list[str] = []
    for word in (piece for run in runs for piece in _known_words(run)):
        if joined and f"{joined[-1]}-{word}" in _JOINT_WORDS:
            joined[-1] += word
        else:
            joined.append(word)
    return tuple(joined)


def _known_words(word: str) -> list[str]:
    """Split a word into the fewest known ones; keep it if that is impossible."""
    if word in _VOCABULARY or not 4 <= len(word) <= 40:
        return [word]
    best: list[list[str] | None] = [[]] + [None] * len(word)
    for stop in range(2, len(word) + 1):
        for start in range(max(0, stop - 24), stop - 1):
            before = best[start]
            if before is None or word[start:stop] not in _VOCABULARY:
                continue
            there = best[stop]
            if there is None or len(before) + 1 < len(there):
                best[stop] = [*before, word[start:stop]]
    return best[-1] or [word]


def identity_of(name: str) -> Identity:
    """Return how surely a name denotes an identifier of persons or devices.

    Of a path such as ``Encounter.individualID`` the ends with an identifier are tried, too.
    """
    words = words_in(name)
    identity = _identity(words)
    if identity.sure is Sure.YES or VETO_WORDS & set(words):
        return identity
    segments = name.split(".")
    ends = [_identity(words_in(".".join(segments[i:]))) for i in range(1, len(segments))]
    return next((end for end in ends if end.sure is Sure.YES and end.rank != 1), identity)


def _identity(words: Sequence[str]) -> Identity:
    heads = [word for word in words if word in _PERSON_WORDS or word in _NUMBERED]
    others = [word for word in words if word not in heads]
    if any(word in VETO_WORDS for word in others):
        return Identity(Sure.NO)
    companions = [word for word in others if word in COMPANIONS]
    if any(word in RECORDS and word not in companions for word in others):
        sure = Sure.MAYBE if not heads and set(others) <= WEAK_ID_WORDS | COMPANIONS else Sure.NO
        return Identity(sure)
    if not heads:
        maybe = bool(others) and all(
            word in WEAK_ID_WORDS | COMPANIONS | _NEUTRAL for word in others
        )
        return Identity(Sure.MAYBE if maybe else Sure.NO)
    head = heads[0]
    rank = 1 if not companions else 2 if _NAMES_OF & {*companions, head} else 0
    kind = _KINDS.get(head, head)
    several = len({_KINDS.get(word, word) for word in heads}) > 1
    if several or not all(word in COMPANIONS | _NEUTRAL for word in others):
        return Identity(Sure.MAYBE, kind, rank)
    if companions or any(word in _PERSON_WORDS for word in heads):
        return Identity(Sure.YES, kind, rank)
    return Identity(Sure.MAYBE, kind, rank)


def names_no_person(name: str) -> bool:
    """Return whether a name rules out persons and devices."""
    words = set(words_in(name))
    excluded = VETO_WORDS if words & (_PERSON_WORDS | _NUMBERED) else _NO_PERSON
    return bool(words & excluded)


def coordinate_of(
    name: str, words: dict[str, frozenset[str]]
) -> tuple[str, tuple[str, ...]] | None:
    """Return ``lat`` or ``lon`` for coordinate names, and words that distinguish pairs.

    Parameters
    ----------
    name : str
    words : dict
        `CLEAR_WORDS` or `AMBIGUOUS_WORDS`.
    """
    parts = words_in(name)
    if set(parts) & NO_COORDINATE:
        return None
    roles = {role for role, known in words.items() if set(parts) & known}
    if len(roles) != 1:
        return None
    (role,) = roles
    aside = words[role] | AMBIGUOUS_WORDS[role] | _FILLING
    rest = tuple(part for part in parts if part not in aside and not part.isdigit())
    numbers = tuple(part for part in parts if part.isdigit() and part not in ("7", "84"))
    return role, rest + numbers


def names_time(name: str) -> Sure:
    """Return how surely a name denotes times."""
    parts = words_in(name)
    if set(parts) & _NO_TIME:
        return Sure.NO
    known = [part for part in parts if part in TIMES or part.endswith(_TIME_ENDS)]
    if known and (len(known) == len(parts) or key(name) in TIMES):
        return Sure.YES
    some = {"time", "timestamp", "date", "datetime", "ts"} | _all("time")
    return Sure.MAYBE if known and (set(parts) & some or known[0] not in TIMES) else Sure.NO


def names_day(name: str) -> bool:
    """Return whether a name denotes dates, with or without time of day."""
    return any(part in _DAYS or part.endswith(("date", "datum")) for part in words_in(name))


def is_known_column(name: str) -> bool:
    """Return whether a column name is recognised."""
    return (
        key(name) in _ALL_WORDS
        or identity_of(name).sure is Sure.YES
        or coordinate_of(name, CLEAR_WORDS) is not None
    )


def language_of(names: Sequence[str]) -> str:
    """Return the language that recognises most names; English in case of a tie."""
    keys: set[str] = set(map(key, names))
    keys.update(word for name in names for word in words_in(name))
    return max(_LANGUAGES, key=lambda language: len(keys & _WORDS_BY_LANGUAGE[language]))


def words_of(language: str, roles: Iterable[str] = NAMES) -> dict[str, tuple[str, ...]]:
    """Return the words of each role in English and another language, surest first.

    Those of other languages are left out: what one calls a place, others call something else.
    """
    both = dict.fromkeys((ENGLISH, language))
    return {role: tuple(" ".join(NAMES[role][one] for one in both).split()) for role in roles}
