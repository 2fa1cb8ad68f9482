"""What columns of check-ins are called, in seven languages."""

import re
import unicodedata
from collections.abc import Sequence

ENGLISH = "English"

NAMES: dict[str, dict[str, str]] = {
    "user": {
        ENGLISH: "user userid uid useridentifier username person personid member memberid "
        "customer customerid",
        "German": "nutzer nutzerid nutzername benutzer benutzerid benutzername anwender kunde "
        "kundenid kundennummer kundennr teilnehmer teilnehmerid mitglied personenid",
        "Spanish": "usuario usuarioid idusuario iddeusuario idusuaria usuaria persona cliente "
        "clienteid idcliente",
        "French": "utilisateur utilisatrice utilisateurid idutilisateur usager personne "
        "idpersonne idclient membre",
        "Italian": "utente utenteid idutente persona cliente idcliente",
        "Portuguese": "usuario utilizador utilizadorid idutilizador idusuario pessoa cliente",
        "Dutch": "gebruiker gebruikerid gebruikersid gebruikersnaam persoon klant klantid "
        "klantnummer",
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
        ENGLISH: "lat latitude y ycoord venuelat venuelatitude latdeg latitudedeg",
        "German": "breite breitengrad geobreite geografischebreite geographischebreite",
        "Spanish": "latitud",
        "French": "latitude",
        "Italian": "latitudine",
        "Portuguese": "latitude",
        "Dutch": "breedte breedtegraad",
    },
    "lon": {
        ENGLISH: "lon lng long longitude x xcoord venuelon venuelng venuelongitude londeg "
        "longitudedeg",
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
"""Role → language → words as `key` writes them, the surest first."""

_LONGEST = 200
"""Characters of a name that are compared."""

_LANGUAGES = tuple(NAMES["user"])
_SAID = {
    language: frozenset(word for said in NAMES.values() for word in said[language].split())
    for language in _LANGUAGES
}
_KNOWN = frozenset().union(*_SAID.values())


def key(name: str) -> str:
    """Return a name without case, accents, signs and what stands in brackets (units)."""
    bare = re.sub(r"\([^()]*\)|\[[^][]*\]", "", name)  # in linear time, whatever the name
    # Normal forms take a time that grows with the square of a run of combining marks.
    letters = unicodedata.normalize("NFKD", (bare.strip() or name)[:_LONGEST].casefold())
    return re.sub(r"[^a-z]", "", letters)


def known(name: str) -> bool:
    """Tell whether a column's name says what it holds."""
    return key(name) in _KNOWN


def language_of(names: Sequence[str]) -> str:
    """Return the language that most of these names are known in; English if several are."""
    keys = set(map(key, names))
    return max(_LANGUAGES, key=lambda language: len(keys & _SAID[language]))


def words_of(language: str) -> dict[str, tuple[str, ...]]:
    """Return role → its names in English and in a language, the surest first.

    Those of other languages are left out: what one calls a time, others call something else.
    """
    both = dict.fromkeys((ENGLISH, language))
    return {
        role: tuple(" ".join(said[one] for one in both).split()) for role, said in NAMES.items()
    }
